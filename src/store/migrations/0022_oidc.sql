-- Sign-in by OpenID Connect: who at a provider is which account, sign-ins that are under way, and roles given by groups.

-- By issuer and subject, which never change; the address is only shown. One an account.
create table oidc_identities (
  issuer       text not null,
  subject      text not null,
  account_id   uuid not null unique references accounts on delete cascade,
  email        text,
  created_at   timestamptz not null,
  last_used_at timestamptz not null,
  primary key (issuer, subject)
);

-- Of the secret in the cookie of the browser that began it only the hash is stored; state, nonce and PKCE verifier follow
-- from the secret. Taken once.
create table oidc_attempts (
  token_hash    bytea primary key,
  purpose       text not null check (purpose in ('sign_in', 'link', 'confirm')),
  -- Whose it is, where somebody is signed in already.
  session_id    uuid references sessions on delete cascade,
  invitation_id uuid,
  return_to     text not null,
  expires_at    timestamptz not null,
  check ((purpose = 'sign_in') = (session_id is null))
);
create index oidc_attempts_by_expiry on oidc_attempts (expires_at);
create index oidc_attempts_by_session on oidc_attempts (session_id) where session_id is not null;

-- Given by a group at the provider, and taken away with it; a role that was given by hand is never touched.
alter table memberships add column from_groups boolean not null default false;
