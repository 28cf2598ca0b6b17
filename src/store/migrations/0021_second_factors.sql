-- Second factors: what proves an account beside its password.

-- A data key is of a workspace, or of an account: a secret of an account belongs to none of its workspaces.
alter table data_keys drop constraint data_keys_pkey;
alter table data_keys drop constraint data_keys_id_key;
alter table data_keys add primary key (id);
alter table data_keys alter column workspace_id drop not null;
alter table data_keys add column account_id uuid references accounts on delete cascade;
alter table data_keys add constraint data_keys_one_owner check (num_nonnulls(workspace_id, account_id) = 1);
create index data_keys_by_workspace on data_keys (workspace_id);
create index data_keys_by_account on data_keys (account_id);
create unique index data_keys_one_current_of_account on data_keys (account_id) where retired_at is null;

-- Whether the account has one: sign-ins and every request ask for it.
alter table accounts add column second_factor boolean not null default false;
create trigger accounts_tell_second_factor after update of second_factor on accounts
  for each row when (old.second_factor <> new.second_factor) execute function tell_access_change();

-- The one that is on, and one that waits for its first code.
create table totp_factors (
  account_id    uuid not null references accounts on delete cascade,
  id            uuid primary key,
  secret_sealed bytea not null,
  -- Of the last code that was taken: neither it nor an earlier one is taken again.
  last_counter  bigint not null default 0,
  created_at    timestamptz not null,
  confirmed_at  timestamptz
);
create unique index totp_factors_on on totp_factors (account_id) where confirmed_at is not null;
create unique index totp_factors_waiting on totp_factors (account_id) where confirmed_at is null;
create index totp_factors_waiting_since on totp_factors (created_at) where confirmed_at is null;

-- Eighty random bits each, so a plain hash of one tells nothing.
create table recovery_codes (
  account_id uuid not null references accounts on delete cascade,
  code_hash  bytea not null,
  created_at timestamptz not null,
  used_at    timestamptz,
  primary key (account_id, code_hash)
);

create table passkeys (
  account_id    uuid not null references accounts on delete cascade,
  id            uuid primary key,
  name          text not null,
  credential_id text not null unique,
  public_key    bytea not null,
  counter       bigint not null,
  transports    text[] not null,
  created_at    timestamptz not null,
  last_used_at  timestamptz
);
create index passkeys_by_account on passkeys (account_id, id);

-- What waits for a second factor: a sign-in whose password was right, a fresh proof, a passkey that is being registered.
create table second_factor_challenges (
  token_hash bytea primary key,
  account_id uuid not null references accounts on delete cascade,
  purpose    text not null check (purpose in ('sign_in', 'confirm', 'register')),
  -- From where it was begun: from elsewhere it does not exist.
  location   text not null,
  tries      integer not null default 0,
  expires_at timestamptz not null
);
create index second_factor_challenges_by_account on second_factor_challenges (account_id);
create index second_factor_challenges_by_expiry on second_factor_challenges (expires_at);

-- Wrong ones of an account, over all its challenges, since the first of them within an hour.
create table second_factor_tries (
  account_id uuid primary key references accounts on delete cascade,
  tries      integer not null,
  since      timestamptz not null
);

-- With each membership, like `closing`: whoever asks who somebody is finds it there.
alter table workspaces add column requires_second_factor boolean not null default false;
alter table memberships add column requires_second_factor boolean not null default false;
