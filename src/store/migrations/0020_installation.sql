-- What is of the whole installation, who looks after it, and when a session last proved who it is.

-- The first account, and whom it makes one.
alter table accounts add column operator boolean not null default false;
update accounts set operator = true where id = (select id from accounts order by created_at, id limit 1);
create index accounts_operators on accounts (id) where operator;

-- One row at most: what was changed while running. Null is what the settings say.
create table installation (
  sole         boolean primary key default true check (sole),
  registration text check (registration in ('open', 'first', 'closed')),
  updated_at   timestamptz not null
);

-- By its password, when it was opened or since.
alter table sessions add column proven_at timestamptz;
