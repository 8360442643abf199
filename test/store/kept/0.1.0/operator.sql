create table if not exists migrations (
       name text primary key, at bigint not null, readable_from text not null default '0.1.0');
create table if not exists write_probes (owner text collate "C" primary key, at bigint not null, contents text not null);
create table permissions (id bigint primary key, basis text not null);
insert into migrations (name, at, readable_from)
           values ('permissions/1', 1795737531002, '0.1.0');
create table messages (
         brand text collate "C" not null,
         key text collate "C" not null,
         ref text collate "C" not null,
         user_id text collate "C" not null,
         state text collate "C" not null check (state in ('in_flight', 'successful', 'failed', 'fatal')),
         attempt integer not null,
         uncertain integer not null,
         owner text collate "C" not null,
         request text collate "C" not null,
         start_at integer not null,
         length integer not null,
         updated_at bigint not null,
         rule text,
         error text,
         call text collate "C",
         chunk bigint not null,
         permission bigint,
         permission_read_at bigint,
         permission_as_of bigint,
         primary key (brand, key)) with (fillfactor = 60);
create unique index messages_ref on messages (ref);
create index messages_user on messages ((brand || ''), chunk, user_id);
insert into migrations (name, at, readable_from)
           values ('messages/1', 1795737531002, '0.1.0');
create table if not exists message_counts (
         scope text collate "C" not null, name text collate "C" not null, writer integer not null, n bigint not null,
         primary key (scope, name, writer)) with (fillfactor = 50);
create function count_messages_insert() returns trigger language plpgsql as $$ begin
       insert into message_counts (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (select x.brand as scope, x.state as name, sum(1) as n from added x group by 1, 2 union all select x.brand as scope, 'uncertain' as name, sum(x.uncertain) as n from added x group by 1, 2 union all select x.brand as scope, 'repeated' as name, sum((x.attempt - 1)) as n from added x group by 1, 2) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = message_counts.n + excluded.n;
       return null;
     end $$;
create trigger messages_insert after insert on messages referencing new table as added
       for each statement execute function count_messages_insert();
create function count_messages_delete() returns trigger language plpgsql as $$ begin
       insert into message_counts (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (select x.brand as scope, x.state as name, -sum(1) as n from removed x group by 1, 2 union all select x.brand as scope, 'uncertain' as name, -sum(x.uncertain) as n from removed x group by 1, 2 union all select x.brand as scope, 'repeated' as name, -sum((x.attempt - 1)) as n from removed x group by 1, 2) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = message_counts.n + excluded.n;
       return null;
     end $$;
create trigger messages_delete after delete on messages referencing old table as removed
       for each statement execute function count_messages_delete();
create function count_messages_update() returns trigger language plpgsql as $$ begin
       insert into message_counts (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (select x.brand as scope, x.state as name, -sum(1) as n from removed x group by 1, 2 union all select x.brand as scope, 'uncertain' as name, -sum(x.uncertain) as n from removed x group by 1, 2 union all select x.brand as scope, 'repeated' as name, -sum((x.attempt - 1)) as n from removed x group by 1, 2 union all select x.brand as scope, x.state as name, sum(1) as n from added x group by 1, 2 union all select x.brand as scope, 'uncertain' as name, sum(x.uncertain) as n from added x group by 1, 2 union all select x.brand as scope, 'repeated' as name, sum((x.attempt - 1)) as n from added x group by 1, 2) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = message_counts.n + excluded.n;
       return null;
     end $$;
create trigger messages_update after update on messages referencing old table as removed new table as added
       for each statement execute function count_messages_update();
insert into migrations (name, at, readable_from)
           values ('message_counts/messages', 1795737531006, '0.1.0');
create table requests (id text collate "C" primary key, text text not null, tracking text) partition by range (id);
insert into migrations (name, at, readable_from)
           values ('requests/1', 1795737531006, '0.1.0');
create table refusals (
         brand text collate "C" not null, ref text collate "C" not null, attempt bigint not null, at bigint not null, category text not null,
         reason text not null, error text not null, rule text not null, answer text, call text collate "C", uncertain bigint not null,
         primary key (brand, ref, attempt, at)) partition by range (at);
insert into migrations (name, at, readable_from)
           values ('refusals/1', 1795737531006, '0.1.0');
create table device_sends (
         brand text collate "C" not null, ref text collate "C" not null, attempt bigint not null, device text collate "C" not null, service text not null,
         category text not null, rule text not null, provider_id text, error text, answer text, uncertain bigint not null,
         at bigint not null,
         primary key (brand, ref, attempt, device, at)) partition by range (at);
insert into migrations (name, at, readable_from)
           values ('device_sends/1', 1795737531006, '0.1.0');
create table revoked_tokens (brand text collate "C" not null, digest text collate "C" primary key, before bigint not null);
insert into migrations (name, at, readable_from)
           values ('revoked_tokens/1', 1795737531006, '0.1.0');
create table calls (
         id text collate "C" primary key, provider text not null, at bigint not null, ms bigint not null, messages bigint not null,
         rule text not null, answer text, error text) partition by range (id);
insert into migrations (name, at, readable_from)
           values ('calls/1', 1795737531006, '0.1.0');
create table inbox_users (
         brand text collate "C" not null, user_id text collate "C" not null, last bigint not null,
         primary key (brand, user_id));
create table inbox (
         brand text collate "C" not null, user_id text collate "C" not null, seq bigint not null, ref text collate "C" not null, id text collate "C" not null,
         title text, body text, image_url text, url text, data text, created_at bigint not null,
         changed bigint not null, expires_at bigint, seen_at bigint, read_at bigint, clicked_at bigint, dismissed_at bigint, archived_at bigint,
         expiry_recorded bigint, primary key (brand, user_id, seq));
create unique index inbox_ref on inbox (brand, ref);
create index inbox_created_at on inbox (created_at);
create index inbox_changed on inbox (brand, user_id, changed);
create index inbox_expires on inbox (expires_at) where expires_at is not null and expiry_recorded is null;
insert into migrations (name, at, readable_from)
           values ('inbox/1', 1795737531006, '0.1.0');
create table status_messages (
         ref text collate "C" not null primary key, brand text collate "C" not null, channel text collate "C" not null, user_id text collate "C" not null, meta text);
create table statuses (
         ref text collate "C" not null, status text collate "C" not null, brand text collate "C" not null, at text collate "C" not null,
         recorded_at bigint not null, number bigint,
         primary key (ref, status));
create unique index statuses_of_brand on statuses (brand, number) where number is not null;
create index statuses_without_number on statuses (recorded_at, ref) where number is null;
create table status_counter (id bigint not null primary key, last bigint not null);
insert into status_counter (id, last) values (1, 0);
create table status_batches (last bigint not null primary key, tag text collate "C" not null, at bigint not null);
insert into migrations (name, at, readable_from)
           values ('status/1', 1795737531006, '0.1.0');
create table removal_brakes (
         service text collate "C" primary key, stopped_at bigint not null, removals bigint not null, sends bigint not null,
         allowed_until bigint not null, confirmed_at bigint not null, confirmed_by text not null);
create table removal_tallies (
         service text collate "C" not null, process text collate "C" not null, minute bigint not null, sends bigint not null, removals bigint not null,
         primary key (service, process, minute));
insert into migrations (name, at, readable_from)
           values ('removal_brake/1', 1795737531006, '0.1.0');
create table devices (
       brand text collate "C" not null, device text collate "C" not null, link_at text collate "C" not null, user_id text collate "C" not null,
       token text collate "C" not null, kind text collate "C" not null, app text collate "C" not null, environment text collate "C" not null,
       channel text collate "C" not null, origin text collate "C" not null, unproven bigint not null default 0,
       primary key (brand, device));
create index devices_user on devices (user_id, brand);
create table device_unlinks (
       brand text collate "C" not null, device text collate "C" not null, user_id text collate "C" not null, at text collate "C" not null, seen_at bigint not null,
       primary key (brand, device, user_id));
create index device_unlinks_seen_at on device_unlinks (seen_at);
create index device_unlinks_user on device_unlinks (user_id, brand, device);
insert into migrations (name, at, readable_from)
           values ('devices/1', 1795737531006, '0.1.0');
create table device_removals (
       brand text collate "C" not null, device text collate "C" not null, user_id text collate "C" not null, link_at text collate "C" not null, at text collate "C" not null,
       why text not null, removed_at bigint not null, restored_at bigint,
       primary key (brand, device, user_id, at));
create index device_removals_removed_at on device_removals (removed_at, brand);
insert into migrations (name, at, readable_from)
           values ('devices/2', 1795737531006, '0.1.0');
create table items (
         seq bigint generated always as identity primary key, lane text collate "C" not null, key text collate "C" not null, text text not null, enqueued_at bigint not null,
         token bigint not null, traceparent text, user_id text collate "C", expires_at bigint, transactional bigint);
create unique index items_key on items (lane, key);
create index items_user on items ((lane || ''), (seq / 10000), user_id);
create table waiting (
         lane text collate "C" not null, due_at bigint not null, seq bigint not null, attempt bigint not null,
         primary key (lane, due_at, seq));
create table settled (
         lane text collate "C" not null, first bigint not null, last bigint not null, state bigint not null, at bigint not null,
         detail text not null, primary key (lane, first));
create index settled_at on settled (at);
create table failed (
         seq bigint primary key, lane text collate "C" not null, key text collate "C" not null,
         activity text collate "C", action text collate "C", user_id text collate "C", reason text collate "C" not null, error text not null, rule text not null,
         answer text, status bigint, call text collate "C", attempts bigint not null, at bigint not null, state bigint not null,
         replays bigint not null default 0, decision text collate "C", decided_by text, decided_at bigint);
create index failed_lane on failed (lane, seq);
create table controls (
         id bigint generated always as identity primary key, scope text collate "C" not null, kind text collate "C" not null, name text collate "C" not null, value text,
         set_by text not null, reason text not null, at bigint not null, expires_at bigint);
create unique index controls_key on controls (scope, kind, name);
create table cancellations (
         id text collate "C" not null, lane text collate "C" not null, activity text collate "C", action text collate "C", user_id text collate "C", enqueued_after bigint,
         enqueued_before bigint, last_seq bigint not null, cancelled_by text not null, reason text not null, at bigint not null,
         cancelled bigint not null, done_at bigint, primary key (id, lane));
create index cancellations_lane on cancellations (lane, at);
insert into migrations (name, at, readable_from)
           values ('queue/1', 1795737531006, '0.1.0');
create table identifiers (seq bigint not null, lane text collate "C" not null, ref text collate "C" not null, replayed_at bigint);
create index identifiers_ref on identifiers (lane, ref);
create index identifiers_seq on identifiers (seq);
insert into migrations (name, at, readable_from)
           values ('identifiers/1', 1795737531006, '0.1.0');
create table attempts (
         seq bigint not null, replay bigint not null, slot bigint not null, attempt bigint not null, at bigint not null,
         outcome text not null, status bigint, reason text not null, rule text not null, error text not null, answer text,
         call text collate "C",          replayed_by text, replayed_at bigint, primary key (seq, replay, slot));
create index attempts_at on attempts (at);
insert into migrations (name, at, readable_from)
           values ('attempts/1', 1795737531006, '0.1.0');
create table if not exists failed_counts (
         scope text collate "C" not null, name text collate "C" not null, writer integer not null, n bigint not null,
         primary key (scope, name, writer)) with (fillfactor = 50);
create function count_failed_insert() returns trigger language plpgsql as $$ begin
       insert into failed_counts (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (select x.lane as scope, (x.state || ' ' || x.reason || ' ' || coalesce(x.activity, '-') || ' ' || coalesce(x.action, '-')) as name, sum(1) as n from added x group by 1, 2) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = failed_counts.n + excluded.n;
       return null;
     end $$;
create trigger failed_insert after insert on failed referencing new table as added
       for each statement execute function count_failed_insert();
create function count_failed_delete() returns trigger language plpgsql as $$ begin
       insert into failed_counts (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (select x.lane as scope, (x.state || ' ' || x.reason || ' ' || coalesce(x.activity, '-') || ' ' || coalesce(x.action, '-')) as name, -sum(1) as n from removed x group by 1, 2) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = failed_counts.n + excluded.n;
       return null;
     end $$;
create trigger failed_delete after delete on failed referencing old table as removed
       for each statement execute function count_failed_delete();
create function count_failed_update() returns trigger language plpgsql as $$ begin
       insert into failed_counts (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (select x.lane as scope, (x.state || ' ' || x.reason || ' ' || coalesce(x.activity, '-') || ' ' || coalesce(x.action, '-')) as name, -sum(1) as n from removed x group by 1, 2 union all select x.lane as scope, (x.state || ' ' || x.reason || ' ' || coalesce(x.activity, '-') || ' ' || coalesce(x.action, '-')) as name, sum(1) as n from added x group by 1, 2) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = failed_counts.n + excluded.n;
       return null;
     end $$;
create trigger failed_update after update on failed referencing old table as removed new table as added
       for each statement execute function count_failed_update();
insert into migrations (name, at, readable_from)
           values ('failed_counts/failed', 1795737531006, '0.1.0');
create table lane_processes (owner text collate "C" primary key, version bigint not null, lanes text not null);
create table lane_owners (lane text collate "C" primary key, owner text collate "C" not null);
insert into migrations (name, at, readable_from)
           values ('queue/owners', 1795737531006, '0.1.0');
create table brand_moves (
       brand text collate "C" primary key, move text collate "C" not null, state text collate "C" not null, other bigint not null, at bigint not null);

  create function refuse_change_of_moved_brand() returns trigger language plpgsql as $$
  declare
    changed jsonb := case tg_op when 'DELETE' then to_jsonb(old) else to_jsonb(new) end;
    known brand_moves;
  begin
    select m.* into known from brand_moves m
      where m.brand = split_part(changed ->> tg_argv[0], '/', 1) and m.state <> 'received';
    if found and coalesce(current_setting('bellwire.passes_freeze', true), '') <> 'on' then
      raise exception using errcode = 'BW001', message = case known.state
        when 'moved' then format('brand %s has moved to store %s: change its store in the setting stores, and restart this process', known.brand, known.other)
        else format('brand %s is being moved to store %s', known.brand, known.other) end;
    end if;
    if tg_op = 'DELETE' then return old; end if;
    return new;
  end $$;
insert into migrations (name, at, readable_from)
           values ('queue/owners/brand-moves', 1795737531006, '0.1.0');
create table outcome_counts (
       lane text collate "C" not null, day bigint not null, activity text collate "C" not null, action text collate "C" not null, action_group text collate "C" not null,
       successful bigint not null, failed bigint not null,
       primary key (lane, day, activity, action)) with (fillfactor = 50);
insert into migrations (name, at, readable_from)
           values ('outcome-counts/1', 1795737531006, '0.1.0');
create table if not exists lane_counts (
         scope text collate "C" not null, name text collate "C" not null, writer integer not null, n bigint not null,
         primary key (scope, name, writer)) with (fillfactor = 50);
create function count_waiting_insert() returns trigger language plpgsql as $$ begin
       insert into lane_counts (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (select x.lane as scope, case when x.due_at >= 4503599627370496 then 'paused ' || x.due_at else 'waiting' end as name, sum(1) as n from added x group by 1, 2) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = lane_counts.n + excluded.n;
       return null;
     end $$;
create trigger waiting_insert after insert on waiting referencing new table as added
       for each statement execute function count_waiting_insert();
create function count_waiting_delete() returns trigger language plpgsql as $$ begin
       insert into lane_counts (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (select x.lane as scope, case when x.due_at >= 4503599627370496 then 'paused ' || x.due_at else 'waiting' end as name, -sum(1) as n from removed x group by 1, 2) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = lane_counts.n + excluded.n;
       return null;
     end $$;
create trigger waiting_delete after delete on waiting referencing old table as removed
       for each statement execute function count_waiting_delete();
create function count_waiting_update() returns trigger language plpgsql as $$ begin
       insert into lane_counts (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (select x.lane as scope, case when x.due_at >= 4503599627370496 then 'paused ' || x.due_at else 'waiting' end as name, -sum(1) as n from removed x group by 1, 2 union all select x.lane as scope, case when x.due_at >= 4503599627370496 then 'paused ' || x.due_at else 'waiting' end as name, sum(1) as n from added x group by 1, 2) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = lane_counts.n + excluded.n;
       return null;
     end $$;
create trigger waiting_update after update on waiting referencing old table as removed new table as added
       for each statement execute function count_waiting_update();
insert into migrations (name, at, readable_from)
           values ('lane_counts/waiting', 1795737531006, '0.1.0');
create table if not exists lane_counts (
         scope text collate "C" not null, name text collate "C" not null, writer integer not null, n bigint not null,
         primary key (scope, name, writer)) with (fillfactor = 50);
create function count_settled_insert() returns trigger language plpgsql as $$ begin
       insert into lane_counts (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (select x.lane as scope, case x.state when 1 then 'successful' else 'failed' end as name, sum((x.last - x.first + 1)) as n from added x group by 1, 2) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = lane_counts.n + excluded.n;
       return null;
     end $$;
create trigger settled_insert after insert on settled referencing new table as added
       for each statement execute function count_settled_insert();
create function count_settled_delete() returns trigger language plpgsql as $$ begin
       insert into lane_counts (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (select x.lane as scope, case x.state when 1 then 'successful' else 'failed' end as name, -sum((x.last - x.first + 1)) as n from removed x group by 1, 2) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = lane_counts.n + excluded.n;
       return null;
     end $$;
create trigger settled_delete after delete on settled referencing old table as removed
       for each statement execute function count_settled_delete();
insert into migrations (name, at, readable_from)
           values ('lane_counts/settled', 1795737531006, '0.1.0');
create table audit (
        serial bigint primary key, at bigint not null, act text not null, by text not null,
        address text, brand text, user_id text, user_salt text, user_digest text, details text, digest text collate "C" not null
      );
create index audit_by_user on audit (user_id, serial) where user_id is not null;
create function sha256_hex(given text) returns text language sql immutable as
               $$ select encode(sha256(convert_to(given, 'UTF8')), 'hex') $$;
create function lock_audit() returns integer language sql as
               $$ select pg_advisory_xact_lock(hashtextextended('audit ' || current_schema(), 0)); select 1 $$;
insert into migrations (name, at, readable_from)
           values ('audit/1', 1795737531006, '0.1.0');
create table person_secrets (brand text collate "C" primary key, secret text not null);
create table erasures (
         id text collate "C" primary key, brand text collate "C" not null, user_id text collate "C", digest text collate "C" not null, at bigint not null,
         requested_by text not null, done_at bigint, counts text not null, waiting bigint not null);
create index erasures_open on erasures (id) where done_at is null;
insert into migrations (name, at, readable_from)
           values ('people/1', 1795737531006, '0.1.0');
create table side_secrets (name text collate "C" primary key, secret text not null);
insert into migrations (name, at, readable_from)
           values ('secrets/1', 1795737531006, '0.1.0');
create table access_keys (
         name text collate "C" primary key, digest text collate "C" not null, scopes text not null, brands text, networks text,
         expires_at text, added_by text not null, added_at bigint not null, used_at bigint);
insert into migrations (name, at, readable_from)
           values ('access_keys/1', 1795737531006, '0.1.0');
create table alert_reports (
         name text collate "C" primary key, says text not null, remedy text not null, since bigint not null, beat bigint not null);
insert into migrations (name, at, readable_from)
           values ('alerts/1', 1795737531006, '0.1.0');
create table calls_20261125 (like calls including all);
alter table calls attach partition calls_20261125 FOR VALUES FROM ('01a21000-8800-7000-8000-000000000000') TO ('01a21526-e400-7000-8000-000000000000');
create table calls_20261126 (like calls including all);
alter table calls attach partition calls_20261126 FOR VALUES FROM ('01a21526-e400-7000-8000-000000000000') TO ('01a21a4d-4000-7000-8000-000000000000');
create table calls_20261127 (like calls including all);
alter table calls attach partition calls_20261127 FOR VALUES FROM ('01a21a4d-4000-7000-8000-000000000000') TO ('01a21f73-9c00-7000-8000-000000000000');
create table device_sends_20261125 (like device_sends including all);
alter table device_sends attach partition device_sends_20261125 FOR VALUES FROM ('1795564800000') TO ('1795651200000');
create table device_sends_20261126 (like device_sends including all);
alter table device_sends attach partition device_sends_20261126 FOR VALUES FROM ('1795651200000') TO ('1795737600000');
create table device_sends_20261127 (like device_sends including all);
alter table device_sends attach partition device_sends_20261127 FOR VALUES FROM ('1795737600000') TO ('1795824000000');
create table refusals_20261125 (like refusals including all);
alter table refusals attach partition refusals_20261125 FOR VALUES FROM ('1795564800000') TO ('1795651200000');
create table refusals_20261126 (like refusals including all);
alter table refusals attach partition refusals_20261126 FOR VALUES FROM ('1795651200000') TO ('1795737600000');
create table refusals_20261127 (like refusals including all);
alter table refusals attach partition refusals_20261127 FOR VALUES FROM ('1795737600000') TO ('1795824000000');
create table requests_20261125 (like requests including all);
alter table requests attach partition requests_20261125 FOR VALUES FROM ('01a21000-8800-7000-8000-000000000000') TO ('01a21526-e400-7000-8000-000000000000');
create table requests_20261126 (like requests including all);
alter table requests attach partition requests_20261126 FOR VALUES FROM ('01a21526-e400-7000-8000-000000000000') TO ('01a21a4d-4000-7000-8000-000000000000');
create table requests_20261127 (like requests including all);
alter table requests attach partition requests_20261127 FOR VALUES FROM ('01a21a4d-4000-7000-8000-000000000000') TO ('01a21f73-9c00-7000-8000-000000000000');
set session_replication_role = replica;
delete from audit;
insert into audit overriding system value select * from json_populate_recordset(null::audit, $json$[{"serial":1,"at":1795737530800,"act":"devices.link","by":"backend","address":"127.0.0.1","brand":"1","user_id":"john","user_salt":"wcH21i79IrNO5hc9LWpBuQ","user_digest":"37e442352b2ee01bb0eb5e07185014d665b1a6f27d0faa29f1d2defaf9081594","details":"{\"count\":3}","digest":"303b367eaf530832f4c98ef08c34a9606f8d1d0a30332c562c638e6a8c8ebda9"}, 
 {"serial":2,"at":1795737530855,"act":"devices.unlink","by":"backend","address":"127.0.0.1","brand":"1","user_id":"john","user_salt":"YDY0sLjQl6J7bPhtlO7D5Q","user_digest":"1ae26dde611d31b1d36559d29abc979db312aadc460379bba610b208bdd4a591","details":"{\"count\":1}","digest":"29adcfb841f126110dd77978b9ca0ce8a7fc3545cb8e0782143eb076a0511b1b"}, 
 {"serial":3,"at":1795737530891,"act":"devices.link","by":"backend","address":"127.0.0.1","brand":"1","user_id":"mary-4711","user_salt":"5tyM8SuxgOG9_l-HTfsXeA","user_digest":"cb86d2c9c52de1f3106a667b562cdb67db05925501ff0ef43fe19a2d87e3d419","details":"{\"count\":3}","digest":"5c348a3985cdc89d9e89e5ab472b72072f5b81ee05229602fa09df36b859d8ef"}, 
 {"serial":4,"at":1795737530900,"act":"devices.unlink","by":"backend","address":"127.0.0.1","brand":"1","user_id":"mary-4711","user_salt":"UXsPzLEIK7rq-H1fYQebQg","user_digest":"ac58334bb4ff9d56a7af81be9de75415b6855499e5e9e88ea139f5161cfb96f0","details":"{\"count\":1}","digest":"56d48c1c25a333cefe41163813f98dd44d0009c9dd3f7727db830ef5d09cdc3d"}]$json$);
delete from calls;
insert into calls overriding system value select * from json_populate_recordset(null::calls, $json$[{"id":"01a21a4c-31ff-7000-b9e3-6d6d1eb70b8d","provider":"inbox","at":1795737530879,"ms":0,"messages":1,"rule":"stored in the inbox","answer":null,"error":null}, 
 {"id":"01a21a4c-3224-7000-b678-291d84ef59a4","provider":"inbox","at":1795737530916,"ms":0,"messages":1,"rule":"stored in the inbox","answer":null,"error":null}]$json$);
delete from device_removals;
insert into device_removals overriding system value select * from json_populate_recordset(null::device_removals, $json$[{"brand":"1","device":"o597_L8iDjytxfglK8fk68siBJtZsuq36bXCDykNzwk","user_id":"mary-4711","link_at":"2026-11-26T23:58:50.893","at":"2026-11-26T23:58:50.893001","why":"fcm_token: 410","removed_at":1795737530932,"restored_at":null}, 
 {"brand":"1","device":"nSzpKC-uDT3GYqZVKW6xEkBkpRzwnjzlqz06Qr0L7kg","user_id":"john","link_at":"2026-11-26T23:58:50.811","at":"2026-11-26T23:58:50.811001","why":"fcm_token: 410","removed_at":1795737530932,"restored_at":null}]$json$);
delete from device_sends;
insert into device_sends overriding system value select * from json_populate_recordset(null::device_sends, $json$[{"brand":"1","ref":"01a21a4c-322a-7000-9db8-289f54869eca","attempt":1,"device":"5JVk0TAJ_Xxlqgp-ZYT2ekkeGNB7kzcRJUZaj1jq_9Q","service":"fcm_token","category":"successful","rule":"accepted","provider_id":"p-1","error":null,"answer":null,"uncertain":0,"at":1795737530932}, 
 {"brand":"1","ref":"01a21a4c-322a-7000-9db8-289f54869eca","attempt":1,"device":"o597_L8iDjytxfglK8fk68siBJtZsuq36bXCDykNzwk","service":"fcm_token","category":"failed","rule":"410","provider_id":null,"error":"gone","answer":null,"uncertain":0,"at":1795737530932}, 
 {"brand":"1","ref":"01a21a4c-322a-7001-9dc0-bd6cfafaadec","attempt":1,"device":"5JVk0TAJ_Xxlqgp-ZYT2ekkeGNB7kzcRJUZaj1jq_9Q","service":"fcm_token","category":"successful","rule":"accepted","provider_id":"p-1","error":null,"answer":null,"uncertain":0,"at":1795737530932}, 
 {"brand":"1","ref":"01a21a4c-322a-7001-9dc0-bd6cfafaadec","attempt":1,"device":"o597_L8iDjytxfglK8fk68siBJtZsuq36bXCDykNzwk","service":"fcm_token","category":"failed","rule":"410","provider_id":null,"error":"gone","answer":null,"uncertain":0,"at":1795737530932}, 
 {"brand":"1","ref":"01a21a4c-322a-7002-9465-fc9f67fe9a2b","attempt":1,"device":"1LJ6RJAY1OaRAdAyqdzKV4vRBZLWSC_4zEVVq14FV8M","service":"fcm_token","category":"successful","rule":"accepted","provider_id":"p-1","error":null,"answer":null,"uncertain":0,"at":1795737530932}, 
 {"brand":"1","ref":"01a21a4c-322a-7002-9465-fc9f67fe9a2b","attempt":1,"device":"nSzpKC-uDT3GYqZVKW6xEkBkpRzwnjzlqz06Qr0L7kg","service":"fcm_token","category":"failed","rule":"410","provider_id":null,"error":"gone","answer":null,"uncertain":0,"at":1795737530932}, 
 {"brand":"1","ref":"01a21a4c-3245-7000-84aa-52e9265d054d","attempt":1,"device":"5JVk0TAJ_Xxlqgp-ZYT2ekkeGNB7kzcRJUZaj1jq_9Q","service":"fcm_token","category":"successful","rule":"accepted","provider_id":"p-1","error":null,"answer":null,"uncertain":0,"at":1795737530951}, 
 {"brand":"1","ref":"01a21a4c-324c-7000-8a1a-b5bb55abaad7","attempt":1,"device":"1LJ6RJAY1OaRAdAyqdzKV4vRBZLWSC_4zEVVq14FV8M","service":"fcm_token","category":"successful","rule":"accepted","provider_id":"p-1","error":null,"answer":null,"uncertain":0,"at":1795737530963}]$json$);
delete from device_unlinks;
insert into device_unlinks overriding system value select * from json_populate_recordset(null::device_unlinks, $json$[{"brand":"1","device":"TCLn7dKv8LZN_i2ywnmkjRtSBtUI-LbXYPayw1RwwLY","user_id":"john","at":"2026-11-26T23:58:50.867","seen_at":1795737530867}, 
 {"brand":"1","device":"lS1cH1eJrnxRonnYvqQQ4ZRYTG1lrmX_6lE5qJ4s894","user_id":"mary-4711","at":"2026-11-26T23:58:50.902","seen_at":1795737530902}, 
 {"brand":"1","device":"nSzpKC-uDT3GYqZVKW6xEkBkpRzwnjzlqz06Qr0L7kg","user_id":"john","at":"2026-11-26T23:58:50.811001","seen_at":1795737530932}, 
 {"brand":"1","device":"o597_L8iDjytxfglK8fk68siBJtZsuq36bXCDykNzwk","user_id":"mary-4711","at":"2026-11-26T23:58:50.893001","seen_at":1795737530932}]$json$);
delete from devices;
insert into devices overriding system value select * from json_populate_recordset(null::devices, $json$[{"brand":"1","device":"1LJ6RJAY1OaRAdAyqdzKV4vRBZLWSC_4zEVVq14FV8M","link_at":"2026-11-26T23:58:50.811","user_id":"john","token":"token-of-john","kind":"fcm_token","app":"","environment":"","channel":"android","origin":"","unproven":0}, 
 {"brand":"1","device":"nSzpKC-uDT3GYqZVKW6xEkBkpRzwnjzlqz06Qr0L7kg","link_at":"2026-11-26T23:58:50.811","user_id":"john","token":"dead-token-of-john","kind":"fcm_token","app":"","environment":"","channel":"android","origin":"","unproven":0}, 
 {"brand":"1","device":"TCLn7dKv8LZN_i2ywnmkjRtSBtUI-LbXYPayw1RwwLY","link_at":"2026-11-26T23:58:50.811","user_id":"john","token":"","kind":"fcm_token","app":"","environment":"","channel":"android","origin":"","unproven":0}, 
 {"brand":"1","device":"5JVk0TAJ_Xxlqgp-ZYT2ekkeGNB7kzcRJUZaj1jq_9Q","link_at":"2026-11-26T23:58:50.893","user_id":"mary-4711","token":"token-of-mary","kind":"fcm_token","app":"","environment":"","channel":"android","origin":"","unproven":0}, 
 {"brand":"1","device":"o597_L8iDjytxfglK8fk68siBJtZsuq36bXCDykNzwk","link_at":"2026-11-26T23:58:50.893","user_id":"mary-4711","token":"dead-token-of-mary","kind":"fcm_token","app":"","environment":"","channel":"android","origin":"","unproven":0}, 
 {"brand":"1","device":"lS1cH1eJrnxRonnYvqQQ4ZRYTG1lrmX_6lE5qJ4s894","link_at":"2026-11-26T23:58:50.893","user_id":"mary-4711","token":"","kind":"fcm_token","app":"","environment":"","channel":"android","origin":"","unproven":0}]$json$);
delete from inbox;
insert into inbox overriding system value select * from json_populate_recordset(null::inbox, $json$[{"brand":"1","user_id":"john","seq":1,"ref":"01a21a4c-31fb-7000-8b2a-0821575b587c","id":"20","title":"Hello John 20","body":"There","image_url":null,"url":null,"data":null,"created_at":1795737530879,"changed":1,"expires_at":null,"seen_at":null,"read_at":null,"clicked_at":null,"dismissed_at":null,"archived_at":null,"expiry_recorded":null}, 
 {"brand":"1","user_id":"mary-4711","seq":1,"ref":"01a21a4c-3223-7000-adb3-76fb09de7a19","id":"20","title":"TEXT-OF-MARY 20","body":"There","image_url":null,"url":null,"data":null,"created_at":1795737530916,"changed":1,"expires_at":null,"seen_at":null,"read_at":null,"clicked_at":null,"dismissed_at":null,"archived_at":null,"expiry_recorded":null}]$json$);
delete from inbox_users;
insert into inbox_users overriding system value select * from json_populate_recordset(null::inbox_users, $json$[{"brand":"1","user_id":"john","last":1}, 
 {"brand":"1","user_id":"mary-4711","last":1}]$json$);
delete from items;
insert into items overriding system value select * from json_populate_recordset(null::items, $json$[{"seq":1,"lane":"1/device-links","key":"[\"link\",\"john\",\"1LJ6RJAY1OaRAdAyqdzKV4vRBZLWSC_4zEVVq14FV8M@2026-11-26T23:58:50.811\"]","text":"{\"user_id\":\"john\",\"tokens\":[{\"token\":\"token-of-john\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:58:50.811Z\",\"origin\":\"bellwire\"}","enqueued_at":1795737530811,"token":46335380914362,"traceparent":null,"user_id":"john","expires_at":null,"transactional":null}, 
 {"seq":2,"lane":"1/device-links","key":"[\"link\",\"john\",\"nSzpKC-uDT3GYqZVKW6xEkBkpRzwnjzlqz06Qr0L7kg@2026-11-26T23:58:50.811\"]","text":"{\"user_id\":\"john\",\"tokens\":[{\"token\":\"dead-token-of-john\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:58:50.811Z\",\"origin\":\"bellwire\"}","enqueued_at":1795737530811,"token":46335380914363,"traceparent":null,"user_id":"john","expires_at":null,"transactional":null}, 
 {"seq":3,"lane":"1/device-links","key":"[\"link\",\"john\",\"TCLn7dKv8LZN_i2ywnmkjRtSBtUI-LbXYPayw1RwwLY@2026-11-26T23:58:50.811\"]","text":"{\"user_id\":\"john\",\"tokens\":[{\"token\":\"old-token-of-john\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:58:50.811Z\",\"origin\":\"bellwire\"}","enqueued_at":1795737530811,"token":46335380914364,"traceparent":null,"user_id":"john","expires_at":null,"transactional":null}, 
 {"seq":4,"lane":"1/device-links","key":"[\"unlink\",\"john\",\"TCLn7dKv8LZN_i2ywnmkjRtSBtUI-LbXYPayw1RwwLY@2026-11-26T23:58:50.867\"]","text":"{\"user_id\":\"john\",\"tokens\":[{\"token\":\"old-token-of-john\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:58:50.867Z\",\"origin\":\"bellwire\"}","enqueued_at":1795737530867,"token":46335380914365,"traceparent":null,"user_id":"john","expires_at":null,"transactional":null}, 
 {"seq":5,"lane":"1/device-links","key":"[\"link\",\"mary-4711\",\"5JVk0TAJ_Xxlqgp-ZYT2ekkeGNB7kzcRJUZaj1jq_9Q@2026-11-26T23:58:50.893\"]","text":"{\"user_id\":\"mary-4711\",\"tokens\":[{\"token\":\"token-of-mary\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:58:50.893Z\",\"origin\":\"bellwire\"}","enqueued_at":1795737530894,"token":46335380914366,"traceparent":null,"user_id":"mary-4711","expires_at":null,"transactional":null}, 
 {"seq":6,"lane":"1/device-links","key":"[\"link\",\"mary-4711\",\"o597_L8iDjytxfglK8fk68siBJtZsuq36bXCDykNzwk@2026-11-26T23:58:50.893\"]","text":"{\"user_id\":\"mary-4711\",\"tokens\":[{\"token\":\"dead-token-of-mary\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:58:50.893Z\",\"origin\":\"bellwire\"}","enqueued_at":1795737530894,"token":46335380914367,"traceparent":null,"user_id":"mary-4711","expires_at":null,"transactional":null}, 
 {"seq":7,"lane":"1/device-links","key":"[\"link\",\"mary-4711\",\"lS1cH1eJrnxRonnYvqQQ4ZRYTG1lrmX_6lE5qJ4s894@2026-11-26T23:58:50.893\"]","text":"{\"user_id\":\"mary-4711\",\"tokens\":[{\"token\":\"old-token-of-mary\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:58:50.893Z\",\"origin\":\"bellwire\"}","enqueued_at":1795737530894,"token":46335380914368,"traceparent":null,"user_id":"mary-4711","expires_at":null,"transactional":null}, 
 {"seq":8,"lane":"1/device-links","key":"[\"unlink\",\"mary-4711\",\"lS1cH1eJrnxRonnYvqQQ4ZRYTG1lrmX_6lE5qJ4s894@2026-11-26T23:58:50.902\"]","text":"{\"user_id\":\"mary-4711\",\"tokens\":[{\"token\":\"old-token-of-mary\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:58:50.902Z\",\"origin\":\"bellwire\"}","enqueued_at":1795737530902,"token":46335380914369,"traceparent":null,"user_id":"mary-4711","expires_at":null,"transactional":null}, 
 {"seq":9,"lane":"1/device-links","key":"[\"unlink\",\"mary-4711\",\"o597_L8iDjytxfglK8fk68siBJtZsuq36bXCDykNzwk@2026-11-26T23:58:50.893001\"]","text":"{\"user_id\":\"mary-4711\",\"tokens\":[{\"token\":\"dead-token-of-mary\",\"channel\":\"unknown\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:58:50.893001Z\",\"origin\":\"bellwire\"}","enqueued_at":1795737530932,"token":46335380914370,"traceparent":null,"user_id":"mary-4711","expires_at":null,"transactional":null}, 
 {"seq":11,"lane":"1/device-links","key":"[\"unlink\",\"john\",\"nSzpKC-uDT3GYqZVKW6xEkBkpRzwnjzlqz06Qr0L7kg@2026-11-26T23:58:50.811001\"]","text":"{\"user_id\":\"john\",\"tokens\":[{\"token\":\"dead-token-of-john\",\"channel\":\"unknown\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:58:50.811001Z\",\"origin\":\"bellwire\"}","enqueued_at":1795737530932,"token":46335380914372,"traceparent":null,"user_id":"john","expires_at":null,"transactional":null}]$json$);
delete from lane_counts;
insert into lane_counts overriding system value select * from json_populate_recordset(null::lane_counts, $json$[{"scope":"1/device-links","name":"waiting","writer":27525,"n":10}]$json$);
delete from message_counts;
insert into message_counts overriding system value select * from json_populate_recordset(null::message_counts, $json$[{"scope":"1","name":"successful","writer":27525,"n":7}, 
 {"scope":"1","name":"in_flight","writer":27525,"n":0}]$json$);
delete from messages;
insert into messages overriding system value select * from json_populate_recordset(null::messages, $json$[{"brand":"1","key":"[\"site\",\"20\",\"john\",\"7\",\"9\",\"hash\"]","ref":"01a21a4c-31fb-7000-8b2a-0821575b587c","user_id":"john","state":"successful","attempt":1,"uncertain":0,"owner":"27510-fd373f0f70","request":"01a21a4c-31fc-7000-92d3-ddf83cc5b26e","start_at":0,"length":163,"updated_at":1795737530879,"rule":"stored in the inbox","error":null,"call":"01a21a4c-31ff-7000-b9e3-6d6d1eb70b8d","chunk":1795737530876,"permission":null,"permission_read_at":null,"permission_as_of":null}, 
 {"brand":"1","key":"[\"site\",\"20\",\"mary-4711\",\"7\",\"9\",\"hash\"]","ref":"01a21a4c-3223-7000-adb3-76fb09de7a19","user_id":"mary-4711","state":"successful","attempt":1,"uncertain":0,"owner":"27510-fd373f0f70","request":"01a21a4c-3223-7001-bafe-77088920f00d","start_at":0,"length":170,"updated_at":1795737530916,"rule":"stored in the inbox","error":null,"call":"01a21a4c-3224-7000-b678-291d84ef59a4","chunk":1795737530876,"permission":null,"permission_read_at":null,"permission_as_of":null}, 
 {"brand":"1","key":"[\"push\",\"1\",\"mary-4711\",\"7\",\"9\",\"hash\"]","ref":"01a21a4c-322a-7000-9db8-289f54869eca","user_id":"mary-4711","state":"successful","attempt":1,"uncertain":0,"owner":"27510-fd373f0f70","request":"01a21a4c-322b-7000-9c6f-365d47180e40","start_at":0,"length":168,"updated_at":1795737530932,"rule":"accepted (1 of 2 devices)","error":null,"call":null,"chunk":1795737530923,"permission":null,"permission_read_at":null,"permission_as_of":null}, 
 {"brand":"1","key":"[\"push\",\"2\",\"mary-4711\",\"7\",\"9\",\"hash\"]","ref":"01a21a4c-322a-7001-9dc0-bd6cfafaadec","user_id":"mary-4711","state":"successful","attempt":1,"uncertain":0,"owner":"27510-fd373f0f70","request":"01a21a4c-322b-7000-9c6f-365d47180e40","start_at":168,"length":168,"updated_at":1795737530932,"rule":"accepted (1 of 2 devices)","error":null,"call":null,"chunk":1795737530923,"permission":null,"permission_read_at":null,"permission_as_of":null}, 
 {"brand":"1","key":"[\"push\",\"1\",\"john\",\"7\",\"9\",\"hash\"]","ref":"01a21a4c-322a-7002-9465-fc9f67fe9a2b","user_id":"john","state":"successful","attempt":1,"uncertain":0,"owner":"27510-fd373f0f70","request":"01a21a4c-322b-7000-9c6f-365d47180e40","start_at":336,"length":161,"updated_at":1795737530932,"rule":"accepted (1 of 2 devices)","error":null,"call":null,"chunk":1795737530923,"permission":null,"permission_read_at":null,"permission_as_of":null}, 
 {"brand":"1","key":"[\"push\",\"3\",\"mary-4711\",\"7\",\"9\",\"hash\"]","ref":"01a21a4c-3245-7000-84aa-52e9265d054d","user_id":"mary-4711","state":"successful","attempt":1,"uncertain":0,"owner":"27510-fd373f0f70","request":"01a21a4c-3245-7001-9797-c4a770be22ac","start_at":0,"length":168,"updated_at":1795737530951,"rule":"accepted","error":null,"call":null,"chunk":1795737530923,"permission":null,"permission_read_at":null,"permission_as_of":null}, 
 {"brand":"1","key":"[\"push\",\"3\",\"john\",\"7\",\"9\",\"hash\"]","ref":"01a21a4c-324c-7000-8a1a-b5bb55abaad7","user_id":"john","state":"successful","attempt":1,"uncertain":0,"owner":"27510-fd373f0f70","request":"01a21a4c-324c-7001-8ac4-2c3610a9e264","start_at":0,"length":161,"updated_at":1795737530963,"rule":"accepted","error":null,"call":null,"chunk":1795737530923,"permission":null,"permission_read_at":null,"permission_as_of":null}]$json$);
delete from removal_tallies;
insert into removal_tallies overriding system value select * from json_populate_recordset(null::removal_tallies, $json$[{"service":"fcm_token","process":"8625de69-15ea-43ce-8b37-13de3d2875f0","minute":1795737480000,"sends":8,"removals":2}]$json$);
delete from requests;
insert into requests overriding system value select * from json_populate_recordset(null::requests, $json$[{"id":"01a21a4c-31fc-7000-92d3-ddf83cc5b26e","text":"{\"activity\":{\"id\":20,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"Hello John 20\",\"body\":\"There\"}","tracking":null}, 
 {"id":"01a21a4c-3223-7001-bafe-77088920f00d","text":"{\"activity\":{\"id\":20,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"TEXT-OF-MARY 20\",\"body\":\"There\"}","tracking":null}, 
 {"id":"01a21a4c-322b-7000-9c6f-365d47180e40","text":"{\"activity\":{\"id\":1,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"TEXT-OF-MARY 1\",\"body\":\"There\"}{\"activity\":{\"id\":2,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"TEXT-OF-MARY 2\",\"body\":\"There\"}{\"activity\":{\"id\":1,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"Hello John 1\",\"body\":\"There\"}","tracking":null}, 
 {"id":"01a21a4c-3245-7001-9797-c4a770be22ac","text":"{\"activity\":{\"id\":3,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"TEXT-OF-MARY 3\",\"body\":\"There\"}","tracking":null}, 
 {"id":"01a21a4c-324c-7001-8ac4-2c3610a9e264","text":"{\"activity\":{\"id\":3,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"Hello John 3\",\"body\":\"There\"}","tracking":null}]$json$);
delete from status_counter;
insert into status_counter overriding system value select * from json_populate_recordset(null::status_counter, $json$[{"id":1,"last":0}]$json$);
delete from status_messages;
insert into status_messages overriding system value select * from json_populate_recordset(null::status_messages, $json$[{"ref":"01a21a4c-31fb-7000-8b2a-0821575b587c","brand":"1","channel":"site","user_id":"john","meta":"{\"activity\":{\"id\":20,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9}}"}, 
 {"ref":"01a21a4c-3223-7000-adb3-76fb09de7a19","brand":"1","channel":"site","user_id":"mary-4711","meta":"{\"activity\":{\"id\":20,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9}}"}, 
 {"ref":"01a21a4c-322a-7000-9db8-289f54869eca","brand":"1","channel":"push","user_id":"mary-4711","meta":"{\"activity\":{\"id\":1,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9}}"}, 
 {"ref":"01a21a4c-322a-7001-9dc0-bd6cfafaadec","brand":"1","channel":"push","user_id":"mary-4711","meta":"{\"activity\":{\"id\":2,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9}}"}, 
 {"ref":"01a21a4c-322a-7002-9465-fc9f67fe9a2b","brand":"1","channel":"push","user_id":"john","meta":"{\"activity\":{\"id\":1,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9}}"}, 
 {"ref":"01a21a4c-3245-7000-84aa-52e9265d054d","brand":"1","channel":"push","user_id":"mary-4711","meta":"{\"activity\":{\"id\":3,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9}}"}, 
 {"ref":"01a21a4c-324c-7000-8a1a-b5bb55abaad7","brand":"1","channel":"push","user_id":"john","meta":"{\"activity\":{\"id\":3,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9}}"}]$json$);
delete from statuses;
insert into statuses overriding system value select * from json_populate_recordset(null::statuses, $json$[{"ref":"01a21a4c-31fb-7000-8b2a-0821575b587c","status":"delivered","brand":"1","at":"2026-11-26T23:58:50.879","recorded_at":1795737530879,"number":null}, 
 {"ref":"01a21a4c-3223-7000-adb3-76fb09de7a19","status":"delivered","brand":"1","at":"2026-11-26T23:58:50.916","recorded_at":1795737530916,"number":null}, 
 {"ref":"01a21a4c-322a-7000-9db8-289f54869eca","status":"sent","brand":"1","at":"2026-11-26T23:58:50.932","recorded_at":1795737530933,"number":null}, 
 {"ref":"01a21a4c-322a-7001-9dc0-bd6cfafaadec","status":"sent","brand":"1","at":"2026-11-26T23:58:50.932","recorded_at":1795737530933,"number":null}, 
 {"ref":"01a21a4c-322a-7002-9465-fc9f67fe9a2b","status":"sent","brand":"1","at":"2026-11-26T23:58:50.932","recorded_at":1795737530933,"number":null}, 
 {"ref":"01a21a4c-3245-7000-84aa-52e9265d054d","status":"sent","brand":"1","at":"2026-11-26T23:58:50.951","recorded_at":1795737530951,"number":null}, 
 {"ref":"01a21a4c-324c-7000-8a1a-b5bb55abaad7","status":"sent","brand":"1","at":"2026-11-26T23:58:50.963","recorded_at":1795737530963,"number":null}]$json$);
delete from waiting;
insert into waiting overriding system value select * from json_populate_recordset(null::waiting, $json$[{"lane":"1/device-links","due_at":0,"seq":1,"attempt":0}, 
 {"lane":"1/device-links","due_at":0,"seq":2,"attempt":0}, 
 {"lane":"1/device-links","due_at":0,"seq":3,"attempt":0}, 
 {"lane":"1/device-links","due_at":0,"seq":4,"attempt":0}, 
 {"lane":"1/device-links","due_at":0,"seq":5,"attempt":0}, 
 {"lane":"1/device-links","due_at":0,"seq":6,"attempt":0}, 
 {"lane":"1/device-links","due_at":0,"seq":7,"attempt":0}, 
 {"lane":"1/device-links","due_at":0,"seq":8,"attempt":0}, 
 {"lane":"1/device-links","due_at":0,"seq":9,"attempt":0}, 
 {"lane":"1/device-links","due_at":0,"seq":11,"attempt":0}]$json$);
select setval(pg_get_serial_sequence('controls', 'id'), (select greatest(1, max(id)) from controls));
select setval(pg_get_serial_sequence('items', 'seq'), (select greatest(1, max(seq)) from items));
set session_replication_role = origin;
