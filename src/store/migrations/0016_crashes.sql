-- How often the worker of a step stopped without handing it over, in the status that the step has now.
alter table operation_steps add column crashes integer not null default 0;
