-- What is taken away with age is found by its age, and what is under way without reading all that ever was.
create index operations_by_end on operations (finished_at) where finished_at is not null;
create index refresh_tokens_by_spending on refresh_tokens (spent_at) where spent_at is not null;
create index deployments_unfinished on deployments (workspace_id, environment_id) where finished_at is null;
-- What became of a message is noted with all that it carried.
create index notification_deliveries_by_message on notification_deliveries (workspace_id, message_id)
  where message_id is not null;

-- From now on a feed goes with its last event. These lost theirs before; what they tell of is over.
delete from event_feeds f
where f.pruned_to = f.position and f.id <> f.workspace_id
  and not exists (select 1 from operations o where o.finished_at is null and f.id in (o.id, o.subject_id))
  and not exists (select 1 from projects p where p.analysis_id = f.id and p.analysis_status not in ('succeeded', 'failed'));
