-- The field's own words for what was named in our own.
alter table backup_parts rename column figures to content_stats;
alter table backup_parts rename column place to position;

alter table backups rename column clear_at to cleanup_at;
alter index backups_to_clear rename to backups_by_cleanup;

alter table backup_restores rename column touched_at to heartbeat_at;
alter table backup_restores rename column clear_at to cleanup_at;
alter index backup_restores_to_clear rename to backup_restores_by_cleanup;

alter table backup_replaced rename column place to position;
alter table backup_replaced rename column before_name to copy_name;

alter table owed_mails rename to mail_outbox;
alter index owed_mails_pkey rename to mail_outbox_pkey;
alter index owed_mails_by_due rename to mail_outbox_by_due;
update mail_outbox set kind = 'new_location' where kind = 'new_place';

alter table sign_in_places rename to sign_in_locations;
alter table sign_in_locations rename column place to location;
alter index sign_in_places_pkey rename to sign_in_locations_pkey;
alter index sign_in_places_by_age rename to sign_in_locations_by_age;
