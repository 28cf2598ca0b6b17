-- Devices that have signed in to an account before. They have a count of their own where sign-ins are limited, so that
-- nobody keeps an owner out by guessing. The token is a cookie; it is replaced at each sign-in, and taken back with
-- the password.
create table known_devices (
  token_hash bytea not null,
  account_id uuid not null references accounts on delete cascade,
  seen_at    timestamptz not null,
  primary key (token_hash, account_id)
);
create index known_devices_by_account on known_devices (account_id, seen_at desc);
create index known_devices_by_age on known_devices (seen_at);

-- A code follows from this seed and a key that is not in the database, so that the same one can be sent again: someone
-- who asks for codes to another's address no longer makes worthless what its owner was sent a moment ago. Tries are counted
-- by network as well, so that they cannot be used up from elsewhere.
alter table registrations drop column otp_hash;
alter table registrations add column otp_seed bytea;
alter table registrations add column otp_made_at timestamptz;
alter table registrations add column otp_tries_by_network jsonb not null default '{}';
update registrations set otp_tries = 0;

-- Tokens that were given out before cookies had the prefix __Host-: only these are taken from a cookie without it.
alter table refresh_tokens add column before_prefix boolean not null default true;
alter table refresh_tokens alter column before_prefix set default false;
