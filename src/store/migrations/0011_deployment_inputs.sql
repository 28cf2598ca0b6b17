-- What a deployment is made of, decided once and sealed; removed when it ends.
alter table deployments add column inputs_sealed bytea;
