-- Deployments of working trees that were uploaded: which upload their files are in. Null: the project's repository.
alter table deployments add column upload_id uuid;
create index deployments_uploads on deployments (upload_id) where upload_id is not null;
