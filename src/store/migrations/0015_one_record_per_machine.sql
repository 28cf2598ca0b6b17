-- A machine is worked on through one record, of whichever workspace: ports, networks, names and the proxy on it are given
-- out by record, and two would give out the same ones. The record that has logged in first has it.
alter table servers add column holds_machine boolean not null default false;
update servers set holds_machine = true where id in (
  select distinct on (host_key) id from servers
  where host_key is not null and last_seen_at is not null
  order by host_key, provisioned_at nulls last, created_at);
create unique index servers_one_per_machine on servers (host_key) where holds_machine;
