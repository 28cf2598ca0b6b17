-- Programs that ask to be signed in by a person with a browser (RFC 8628). Only hashes are stored of what lets one in; what
-- the person types is short, so its hash takes a key that is not in the database.
create table device_codes (
  code_hash      bytea primary key,
  user_code_hash bytea not null unique,
  -- What the program says it is, and from where it asked: shown to the person.
  device_name    text not null,
  user_agent     text,
  ip             text not null,
  -- How long it has to wait between two looks, and when it last looked.
  interval_s     integer not null,
  polled_at      timestamptz,
  created_at     timestamptz not null,
  expires_at     timestamptz not null,
  -- The answer, the session that gave it, and when that last proved who it is. It ends with that session.
  allowed        boolean,
  session_id     uuid references sessions on delete cascade,
  proven_at      timestamptz,
  check (num_nulls(allowed, session_id, proven_at) in (0, 3))
);
create index device_codes_by_expiry on device_codes (expires_at);
create index device_codes_by_session on device_codes (session_id) where session_id is not null;
