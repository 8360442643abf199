create table if not exists migrations (
       name text primary key, at bigint not null, readable_from text not null default '0.1.0');
create table if not exists write_probes (owner text collate "C" primary key, at bigint not null, contents text not null);
create table permissions (id bigint primary key, basis text not null);
insert into migrations (name, at, readable_from)
           values ('permissions/1', 1795736989555, '0.1.0');
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
           values ('messages/1', 1795736989555, '0.1.0');
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
           values ('message_counts/messages', 1795736989555, '0.1.0');
create table requests (id text collate "C" primary key, text text not null, tracking text) partition by range (id);
insert into migrations (name, at, readable_from)
           values ('requests/1', 1795736989555, '0.1.0');
create table refusals (
         brand text collate "C" not null, ref text collate "C" not null, attempt bigint not null, at bigint not null, category text not null,
         reason text not null, error text not null, rule text not null, answer text, call text collate "C", uncertain bigint not null,
         primary key (brand, ref, attempt, at)) partition by range (at);
insert into migrations (name, at, readable_from)
           values ('refusals/1', 1795736989555, '0.1.0');
create table device_sends (
         brand text collate "C" not null, ref text collate "C" not null, attempt bigint not null, device text collate "C" not null, service text not null,
         category text not null, rule text not null, provider_id text, error text, answer text, uncertain bigint not null,
         at bigint not null,
         primary key (brand, ref, attempt, device, at)) partition by range (at);
insert into migrations (name, at, readable_from)
           values ('device_sends/1', 1795736989555, '0.1.0');
create table revoked_tokens (brand text collate "C" not null, digest text collate "C" primary key, before bigint not null);
insert into migrations (name, at, readable_from)
           values ('revoked_tokens/1', 1795736989555, '0.1.0');
create table calls (
         id text collate "C" primary key, provider text not null, at bigint not null, ms bigint not null, messages bigint not null,
         rule text not null, answer text, error text) partition by range (id);
insert into migrations (name, at, readable_from)
           values ('calls/1', 1795736989555, '0.1.0');
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
           values ('inbox/1', 1795736989555, '0.1.0');
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
           values ('status/1', 1795736989555, '0.1.0');
create table removal_brakes (
         service text collate "C" primary key, stopped_at bigint not null, removals bigint not null, sends bigint not null,
         allowed_until bigint not null, confirmed_at bigint not null, confirmed_by text not null);
create table removal_tallies (
         service text collate "C" not null, process text collate "C" not null, minute bigint not null, sends bigint not null, removals bigint not null,
         primary key (service, process, minute));
insert into migrations (name, at, readable_from)
           values ('removal_brake/1', 1795736989555, '0.1.0');
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
           values ('devices/1', 1795736989555, '0.1.0');
create table device_removals (
       brand text collate "C" not null, device text collate "C" not null, user_id text collate "C" not null, link_at text collate "C" not null, at text collate "C" not null,
       why text not null, removed_at bigint not null, restored_at bigint,
       primary key (brand, device, user_id, at));
create index device_removals_removed_at on device_removals (removed_at, brand);
insert into migrations (name, at, readable_from)
           values ('devices/2', 1795736989555, '0.1.0');
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
           values ('queue/1', 1795736989555, '0.1.0');
create table identifiers (seq bigint not null, lane text collate "C" not null, ref text collate "C" not null, replayed_at bigint);
create index identifiers_ref on identifiers (lane, ref);
create index identifiers_seq on identifiers (seq);
insert into migrations (name, at, readable_from)
           values ('identifiers/1', 1795736989555, '0.1.0');
create table attempts (
         seq bigint not null, replay bigint not null, slot bigint not null, attempt bigint not null, at bigint not null,
         outcome text not null, status bigint, reason text not null, rule text not null, error text not null, answer text,
         call text collate "C",          replayed_by text, replayed_at bigint, primary key (seq, replay, slot));
create index attempts_at on attempts (at);
insert into migrations (name, at, readable_from)
           values ('attempts/1', 1795736989555, '0.1.0');
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
           values ('failed_counts/failed', 1795736989555, '0.1.0');
create table lane_processes (owner text collate "C" primary key, version bigint not null, lanes text not null);
create table lane_owners (lane text collate "C" primary key, owner text collate "C" not null);
insert into migrations (name, at, readable_from)
           values ('queue/owners', 1795736989555, '0.1.0');
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
           values ('queue/owners/brand-moves', 1795736989555, '0.1.0');
create table outcome_counts (
       lane text collate "C" not null, day bigint not null, activity text collate "C" not null, action text collate "C" not null, action_group text collate "C" not null,
       successful bigint not null, failed bigint not null,
       primary key (lane, day, activity, action)) with (fillfactor = 50);
insert into migrations (name, at, readable_from)
           values ('outcome-counts/1', 1795736989555, '0.1.0');
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
           values ('lane_counts/waiting', 1795736989555, '0.1.0');
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
           values ('lane_counts/settled', 1795736989555, '0.1.0');
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
           values ('audit/1', 1795736989555, '0.1.0');
create table person_secrets (brand text collate "C" primary key, secret text not null);
create table erasures (
         id text collate "C" primary key, brand text collate "C" not null, user_id text collate "C", digest text collate "C" not null, at bigint not null,
         requested_by text not null, done_at bigint, counts text not null, waiting bigint not null);
create index erasures_open on erasures (id) where done_at is null;
insert into migrations (name, at, readable_from)
           values ('people/1', 1795736989555, '0.1.0');
create table side_secrets (name text collate "C" primary key, secret text not null);
insert into migrations (name, at, readable_from)
           values ('secrets/1', 1795736989555, '0.1.0');
create table access_keys (
         name text collate "C" primary key, digest text collate "C" not null, scopes text not null, brands text, networks text,
         expires_at text, added_by text not null, added_at bigint not null, used_at bigint);
insert into migrations (name, at, readable_from)
           values ('access_keys/1', 1795736989555, '0.1.0');
create table alert_reports (
         name text collate "C" primary key, says text not null, remedy text not null, since bigint not null, beat bigint not null);
insert into migrations (name, at, readable_from)
           values ('alerts/1', 1795736989555, '0.1.0');
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
insert into audit overriding system value select * from json_populate_recordset(null::audit, $json$[{"serial":1,"at":1795736988980,"act":"devices.link","by":"backend","address":"127.0.0.1","brand":"1","user_id":"john","user_salt":"phWmPkuMK_VF3VBfgrs1rg","user_digest":"44f47dab35b46c4b678c245a71d0c727f48fc7412dd671f4463a7a085f94e187","details":"{\"count\":3}","digest":"299807a9f0721ef152a04e79f0f495515bbb72556a3e6e91fc5d6ac0dafae206"}, 
 {"serial":2,"at":1795736989109,"act":"devices.unlink","by":"backend","address":"127.0.0.1","brand":"1","user_id":"john","user_salt":"ZlW4k1PqcDcA5x14_P33-w","user_digest":"24661e3eb6c88b9e9355ed742dd4fb61280576ef12548ac8223be32a1e895062","details":"{\"count\":1}","digest":"c72e6156c4d3468f0f94dd3dad7aeebad79c03315160ffaf5b71ac5f9084e536"}, 
 {"serial":3,"at":1795736989224,"act":"devices.link","by":"backend","address":"127.0.0.1","brand":"1","user_id":"mary-4711","user_salt":"h7ZLxvYZIj2XnBk2pXCzHQ","user_digest":"ced2f259afc3dd6bf4ecc4537112094d453e216e2a5f3d8d4765ca942624fe01","details":"{\"count\":3}","digest":"a3f6f1ae6466dfaf99c946ec1f347d79d4f9f3da1b3846a15ece33665da620df"}, 
 {"serial":4,"at":1795736989263,"act":"devices.unlink","by":"backend","address":"127.0.0.1","brand":"1","user_id":"mary-4711","user_salt":"VEMrbNkdIEDxUXLDUSSQ5Q","user_digest":"882959ae062c2f223fb3bbe5d5c74447ee3c85f72062a2c69a7b39d7c4224c3c","details":"{\"count\":1}","digest":"7e1eb95b4a4551ef8f72ff2c9d3d703beaa428aaa1e35466a8b40951a10ee24f"}]$json$);
delete from calls;
insert into calls overriding system value select * from json_populate_recordset(null::calls, $json$[{"id":"01a21a43-ee0c-7000-a02a-4bc2e3fbbd56","provider":"inbox","at":1795736989196,"ms":0,"messages":1,"rule":"stored in the inbox","answer":null,"error":null}, 
 {"id":"01a21a43-ee8d-7000-9264-e8e839b6030c","provider":"inbox","at":1795736989325,"ms":0,"messages":1,"rule":"stored in the inbox","answer":null,"error":null}]$json$);
delete from device_removals;
insert into device_removals overriding system value select * from json_populate_recordset(null::device_removals, $json$[{"brand":"1","device":"o597_L8iDjytxfglK8fk68siBJtZsuq36bXCDykNzwk","user_id":"mary-4711","link_at":"2026-11-26T23:49:49.23","at":"2026-11-26T23:49:49.230001","why":"fcm_token: 410","removed_at":1795736989363,"restored_at":null}, 
 {"brand":"1","device":"nSzpKC-uDT3GYqZVKW6xEkBkpRzwnjzlqz06Qr0L7kg","user_id":"john","link_at":"2026-11-26T23:49:48.986","at":"2026-11-26T23:49:48.986001","why":"fcm_token: 410","removed_at":1795736989363,"restored_at":null}]$json$);
delete from device_sends;
insert into device_sends overriding system value select * from json_populate_recordset(null::device_sends, $json$[{"brand":"1","ref":"01a21a43-eea3-7000-a76a-ccefb20f3a5a","attempt":1,"device":"5JVk0TAJ_Xxlqgp-ZYT2ekkeGNB7kzcRJUZaj1jq_9Q","service":"fcm_token","category":"successful","rule":"accepted","provider_id":"p-1","error":null,"answer":null,"uncertain":0,"at":1795736989363}, 
 {"brand":"1","ref":"01a21a43-eea3-7000-a76a-ccefb20f3a5a","attempt":1,"device":"o597_L8iDjytxfglK8fk68siBJtZsuq36bXCDykNzwk","service":"fcm_token","category":"failed","rule":"410","provider_id":null,"error":"gone","answer":null,"uncertain":0,"at":1795736989363}, 
 {"brand":"1","ref":"01a21a43-eea3-7001-b9ea-8d1536362c3d","attempt":1,"device":"5JVk0TAJ_Xxlqgp-ZYT2ekkeGNB7kzcRJUZaj1jq_9Q","service":"fcm_token","category":"successful","rule":"accepted","provider_id":"p-1","error":null,"answer":null,"uncertain":0,"at":1795736989363}, 
 {"brand":"1","ref":"01a21a43-eea3-7001-b9ea-8d1536362c3d","attempt":1,"device":"o597_L8iDjytxfglK8fk68siBJtZsuq36bXCDykNzwk","service":"fcm_token","category":"failed","rule":"410","provider_id":null,"error":"gone","answer":null,"uncertain":0,"at":1795736989363}, 
 {"brand":"1","ref":"01a21a43-eea3-7002-96b6-d915062904ac","attempt":1,"device":"1LJ6RJAY1OaRAdAyqdzKV4vRBZLWSC_4zEVVq14FV8M","service":"fcm_token","category":"successful","rule":"accepted","provider_id":"p-1","error":null,"answer":null,"uncertain":0,"at":1795736989363}, 
 {"brand":"1","ref":"01a21a43-eea3-7002-96b6-d915062904ac","attempt":1,"device":"nSzpKC-uDT3GYqZVKW6xEkBkpRzwnjzlqz06Qr0L7kg","service":"fcm_token","category":"failed","rule":"410","provider_id":null,"error":"gone","answer":null,"uncertain":0,"at":1795736989363}, 
 {"brand":"1","ref":"01a21a43-eec8-7000-924d-10b2ec3975f4","attempt":1,"device":"5JVk0TAJ_Xxlqgp-ZYT2ekkeGNB7kzcRJUZaj1jq_9Q","service":"fcm_token","category":"successful","rule":"accepted","provider_id":"p-1","error":null,"answer":null,"uncertain":0,"at":1795736989410}, 
 {"brand":"1","ref":"01a21a43-eef3-7000-9fa7-67bdff965109","attempt":1,"device":"1LJ6RJAY1OaRAdAyqdzKV4vRBZLWSC_4zEVVq14FV8M","service":"fcm_token","category":"successful","rule":"accepted","provider_id":"p-1","error":null,"answer":null,"uncertain":0,"at":1795736989435}]$json$);
delete from device_unlinks;
insert into device_unlinks overriding system value select * from json_populate_recordset(null::device_unlinks, $json$[{"brand":"1","device":"TCLn7dKv8LZN_i2ywnmkjRtSBtUI-LbXYPayw1RwwLY","user_id":"john","at":"2026-11-26T23:49:49.13","seen_at":1795736989131}, 
 {"brand":"1","device":"lS1cH1eJrnxRonnYvqQQ4ZRYTG1lrmX_6lE5qJ4s894","user_id":"mary-4711","at":"2026-11-26T23:49:49.268","seen_at":1795736989268}, 
 {"brand":"1","device":"nSzpKC-uDT3GYqZVKW6xEkBkpRzwnjzlqz06Qr0L7kg","user_id":"john","at":"2026-11-26T23:49:48.986001","seen_at":1795736989363}, 
 {"brand":"1","device":"o597_L8iDjytxfglK8fk68siBJtZsuq36bXCDykNzwk","user_id":"mary-4711","at":"2026-11-26T23:49:49.230001","seen_at":1795736989363}]$json$);
delete from devices;
insert into devices overriding system value select * from json_populate_recordset(null::devices, $json$[{"brand":"1","device":"1LJ6RJAY1OaRAdAyqdzKV4vRBZLWSC_4zEVVq14FV8M","link_at":"2026-11-26T23:49:48.986","user_id":"john","token":"token-of-john","kind":"fcm_token","app":"","environment":"","channel":"android","origin":"","unproven":0}, 
 {"brand":"1","device":"nSzpKC-uDT3GYqZVKW6xEkBkpRzwnjzlqz06Qr0L7kg","link_at":"2026-11-26T23:49:48.986","user_id":"john","token":"dead-token-of-john","kind":"fcm_token","app":"","environment":"","channel":"android","origin":"","unproven":0}, 
 {"brand":"1","device":"TCLn7dKv8LZN_i2ywnmkjRtSBtUI-LbXYPayw1RwwLY","link_at":"2026-11-26T23:49:48.986","user_id":"john","token":"","kind":"fcm_token","app":"","environment":"","channel":"android","origin":"","unproven":0}, 
 {"brand":"1","device":"5JVk0TAJ_Xxlqgp-ZYT2ekkeGNB7kzcRJUZaj1jq_9Q","link_at":"2026-11-26T23:49:49.23","user_id":"mary-4711","token":"token-of-mary","kind":"fcm_token","app":"","environment":"","channel":"android","origin":"","unproven":0}, 
 {"brand":"1","device":"o597_L8iDjytxfglK8fk68siBJtZsuq36bXCDykNzwk","link_at":"2026-11-26T23:49:49.23","user_id":"mary-4711","token":"dead-token-of-mary","kind":"fcm_token","app":"","environment":"","channel":"android","origin":"","unproven":0}, 
 {"brand":"1","device":"lS1cH1eJrnxRonnYvqQQ4ZRYTG1lrmX_6lE5qJ4s894","link_at":"2026-11-26T23:49:49.23","user_id":"mary-4711","token":"","kind":"fcm_token","app":"","environment":"","channel":"android","origin":"","unproven":0}]$json$);
delete from inbox;
insert into inbox overriding system value select * from json_populate_recordset(null::inbox, $json$[{"brand":"1","user_id":"john","seq":1,"ref":"01a21a43-edf8-7000-97bf-3d91474f1673","id":"20","title":"Hello John 20","body":"There","image_url":null,"url":null,"data":null,"created_at":1795736989196,"changed":1,"expires_at":null,"seen_at":null,"read_at":null,"clicked_at":null,"dismissed_at":null,"archived_at":null,"expiry_recorded":null}, 
 {"brand":"1","user_id":"mary-4711","seq":1,"ref":"01a21a43-ee88-7000-ba2b-16a2aaae61ed","id":"20","title":"TEXT-OF-MARY 20","body":"There","image_url":null,"url":null,"data":null,"created_at":1795736989325,"changed":1,"expires_at":null,"seen_at":null,"read_at":null,"clicked_at":null,"dismissed_at":null,"archived_at":null,"expiry_recorded":null}]$json$);
delete from inbox_users;
insert into inbox_users overriding system value select * from json_populate_recordset(null::inbox_users, $json$[{"brand":"1","user_id":"john","last":1}, 
 {"brand":"1","user_id":"mary-4711","last":1}]$json$);
delete from items;
insert into items overriding system value select * from json_populate_recordset(null::items, $json$[{"seq":1,"lane":"1/device-links","key":"[\"link\",\"john\",\"1LJ6RJAY1OaRAdAyqdzKV4vRBZLWSC_4zEVVq14FV8M@2026-11-26T23:49:48.986\"]","text":"{\"user_id\":\"john\",\"tokens\":[{\"token\":\"token-of-john\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:49:48.986Z\",\"origin\":\"bellwire\"}","enqueued_at":1795736988986,"token":72855842557440,"traceparent":null,"user_id":"john","expires_at":null,"transactional":null}, 
 {"seq":2,"lane":"1/device-links","key":"[\"link\",\"john\",\"nSzpKC-uDT3GYqZVKW6xEkBkpRzwnjzlqz06Qr0L7kg@2026-11-26T23:49:48.986\"]","text":"{\"user_id\":\"john\",\"tokens\":[{\"token\":\"dead-token-of-john\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:49:48.986Z\",\"origin\":\"bellwire\"}","enqueued_at":1795736988986,"token":72855842557441,"traceparent":null,"user_id":"john","expires_at":null,"transactional":null}, 
 {"seq":3,"lane":"1/device-links","key":"[\"link\",\"john\",\"TCLn7dKv8LZN_i2ywnmkjRtSBtUI-LbXYPayw1RwwLY@2026-11-26T23:49:48.986\"]","text":"{\"user_id\":\"john\",\"tokens\":[{\"token\":\"old-token-of-john\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:49:48.986Z\",\"origin\":\"bellwire\"}","enqueued_at":1795736988986,"token":72855842557442,"traceparent":null,"user_id":"john","expires_at":null,"transactional":null}, 
 {"seq":4,"lane":"1/device-links","key":"[\"unlink\",\"john\",\"TCLn7dKv8LZN_i2ywnmkjRtSBtUI-LbXYPayw1RwwLY@2026-11-26T23:49:49.13\"]","text":"{\"user_id\":\"john\",\"tokens\":[{\"token\":\"old-token-of-john\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:49:49.13Z\",\"origin\":\"bellwire\"}","enqueued_at":1795736989131,"token":72855842557443,"traceparent":null,"user_id":"john","expires_at":null,"transactional":null}, 
 {"seq":5,"lane":"1/device-links","key":"[\"link\",\"mary-4711\",\"5JVk0TAJ_Xxlqgp-ZYT2ekkeGNB7kzcRJUZaj1jq_9Q@2026-11-26T23:49:49.23\"]","text":"{\"user_id\":\"mary-4711\",\"tokens\":[{\"token\":\"token-of-mary\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:49:49.23Z\",\"origin\":\"bellwire\"}","enqueued_at":1795736989230,"token":72855842557444,"traceparent":null,"user_id":"mary-4711","expires_at":null,"transactional":null}, 
 {"seq":6,"lane":"1/device-links","key":"[\"link\",\"mary-4711\",\"o597_L8iDjytxfglK8fk68siBJtZsuq36bXCDykNzwk@2026-11-26T23:49:49.23\"]","text":"{\"user_id\":\"mary-4711\",\"tokens\":[{\"token\":\"dead-token-of-mary\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:49:49.23Z\",\"origin\":\"bellwire\"}","enqueued_at":1795736989230,"token":72855842557445,"traceparent":null,"user_id":"mary-4711","expires_at":null,"transactional":null}, 
 {"seq":7,"lane":"1/device-links","key":"[\"link\",\"mary-4711\",\"lS1cH1eJrnxRonnYvqQQ4ZRYTG1lrmX_6lE5qJ4s894@2026-11-26T23:49:49.23\"]","text":"{\"user_id\":\"mary-4711\",\"tokens\":[{\"token\":\"old-token-of-mary\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:49:49.23Z\",\"origin\":\"bellwire\"}","enqueued_at":1795736989230,"token":72855842557446,"traceparent":null,"user_id":"mary-4711","expires_at":null,"transactional":null}, 
 {"seq":8,"lane":"1/device-links","key":"[\"unlink\",\"mary-4711\",\"lS1cH1eJrnxRonnYvqQQ4ZRYTG1lrmX_6lE5qJ4s894@2026-11-26T23:49:49.268\"]","text":"{\"user_id\":\"mary-4711\",\"tokens\":[{\"token\":\"old-token-of-mary\",\"channel\":\"android\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:49:49.268Z\",\"origin\":\"bellwire\"}","enqueued_at":1795736989268,"token":72855842557447,"traceparent":null,"user_id":"mary-4711","expires_at":null,"transactional":null}, 
 {"seq":9,"lane":"1/device-links","key":"[\"unlink\",\"mary-4711\",\"o597_L8iDjytxfglK8fk68siBJtZsuq36bXCDykNzwk@2026-11-26T23:49:49.230001\"]","text":"{\"user_id\":\"mary-4711\",\"tokens\":[{\"token\":\"dead-token-of-mary\",\"channel\":\"unknown\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:49:49.230001Z\",\"origin\":\"bellwire\"}","enqueued_at":1795736989363,"token":72855842557448,"traceparent":null,"user_id":"mary-4711","expires_at":null,"transactional":null}, 
 {"seq":11,"lane":"1/device-links","key":"[\"unlink\",\"john\",\"nSzpKC-uDT3GYqZVKW6xEkBkpRzwnjzlqz06Qr0L7kg@2026-11-26T23:49:48.986001\"]","text":"{\"user_id\":\"john\",\"tokens\":[{\"token\":\"dead-token-of-john\",\"channel\":\"unknown\",\"provider\":\"firebase\"}],\"timestamp\":\"2026-11-26T23:49:48.986001Z\",\"origin\":\"bellwire\"}","enqueued_at":1795736989363,"token":72855842557450,"traceparent":null,"user_id":"john","expires_at":null,"transactional":null}]$json$);
delete from lane_counts;
insert into lane_counts overriding system value select * from json_populate_recordset(null::lane_counts, $json$[{"scope":"1/device-links","name":"waiting","writer":4909,"n":10}]$json$);
delete from message_counts;
insert into message_counts overriding system value select * from json_populate_recordset(null::message_counts, $json$[{"scope":"1","name":"successful","writer":4909,"n":7}, 
 {"scope":"1","name":"in_flight","writer":4909,"n":0}]$json$);
delete from messages;
insert into messages overriding system value select * from json_populate_recordset(null::messages, $json$[{"brand":"1","key":"[\"site\",\"20\",\"john\",\"7\",\"9\",\"hash\"]","ref":"01a21a43-edf8-7000-97bf-3d91474f1673","user_id":"john","state":"successful","attempt":1,"uncertain":0,"owner":"4811-71507d4ba4","request":"01a21a43-edf9-7000-abba-0b896883424b","start_at":0,"length":163,"updated_at":1795736989197,"rule":"stored in the inbox","error":null,"call":"01a21a43-ee0c-7000-a02a-4bc2e3fbbd56","chunk":1795736989177,"permission":null,"permission_read_at":null,"permission_as_of":null}, 
 {"brand":"1","key":"[\"site\",\"20\",\"mary-4711\",\"7\",\"9\",\"hash\"]","ref":"01a21a43-ee88-7000-ba2b-16a2aaae61ed","user_id":"mary-4711","state":"successful","attempt":1,"uncertain":0,"owner":"4811-71507d4ba4","request":"01a21a43-ee88-7001-bca7-985adb5b5717","start_at":0,"length":170,"updated_at":1795736989325,"rule":"stored in the inbox","error":null,"call":"01a21a43-ee8d-7000-9264-e8e839b6030c","chunk":1795736989177,"permission":null,"permission_read_at":null,"permission_as_of":null}, 
 {"brand":"1","key":"[\"push\",\"1\",\"mary-4711\",\"7\",\"9\",\"hash\"]","ref":"01a21a43-eea3-7000-a76a-ccefb20f3a5a","user_id":"mary-4711","state":"successful","attempt":1,"uncertain":0,"owner":"4811-71507d4ba4","request":"01a21a43-eea3-7003-b040-d5809875708a","start_at":0,"length":168,"updated_at":1795736989363,"rule":"accepted (1 of 2 devices)","error":null,"call":null,"chunk":1795736989347,"permission":null,"permission_read_at":null,"permission_as_of":null}, 
 {"brand":"1","key":"[\"push\",\"2\",\"mary-4711\",\"7\",\"9\",\"hash\"]","ref":"01a21a43-eea3-7001-b9ea-8d1536362c3d","user_id":"mary-4711","state":"successful","attempt":1,"uncertain":0,"owner":"4811-71507d4ba4","request":"01a21a43-eea3-7003-b040-d5809875708a","start_at":168,"length":168,"updated_at":1795736989363,"rule":"accepted (1 of 2 devices)","error":null,"call":null,"chunk":1795736989347,"permission":null,"permission_read_at":null,"permission_as_of":null}, 
 {"brand":"1","key":"[\"push\",\"1\",\"john\",\"7\",\"9\",\"hash\"]","ref":"01a21a43-eea3-7002-96b6-d915062904ac","user_id":"john","state":"successful","attempt":1,"uncertain":0,"owner":"4811-71507d4ba4","request":"01a21a43-eea3-7003-b040-d5809875708a","start_at":336,"length":161,"updated_at":1795736989363,"rule":"accepted (1 of 2 devices)","error":null,"call":null,"chunk":1795736989347,"permission":null,"permission_read_at":null,"permission_as_of":null}, 
 {"brand":"1","key":"[\"push\",\"3\",\"mary-4711\",\"7\",\"9\",\"hash\"]","ref":"01a21a43-eec8-7000-924d-10b2ec3975f4","user_id":"mary-4711","state":"successful","attempt":1,"uncertain":0,"owner":"4811-71507d4ba4","request":"01a21a43-eec8-7001-99d3-d0027effacff","start_at":0,"length":168,"updated_at":1795736989410,"rule":"accepted","error":null,"call":null,"chunk":1795736989347,"permission":null,"permission_read_at":null,"permission_as_of":null}, 
 {"brand":"1","key":"[\"push\",\"3\",\"john\",\"7\",\"9\",\"hash\"]","ref":"01a21a43-eef3-7000-9fa7-67bdff965109","user_id":"john","state":"successful","attempt":1,"uncertain":0,"owner":"4811-71507d4ba4","request":"01a21a43-eef3-7001-b06c-a2efa4338612","start_at":0,"length":161,"updated_at":1795736989435,"rule":"accepted","error":null,"call":null,"chunk":1795736989347,"permission":null,"permission_read_at":null,"permission_as_of":null}]$json$);
delete from removal_tallies;
insert into removal_tallies overriding system value select * from json_populate_recordset(null::removal_tallies, $json$[{"service":"fcm_token","process":"f78884d0-756e-495f-aeec-32a7fef3ffe9","minute":1795736940000,"sends":8,"removals":2}]$json$);
delete from requests;
insert into requests overriding system value select * from json_populate_recordset(null::requests, $json$[{"id":"01a21a43-edf9-7000-abba-0b896883424b","text":"{\"activity\":{\"id\":20,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"Hello John 20\",\"body\":\"There\"}","tracking":null}, 
 {"id":"01a21a43-ee88-7001-bca7-985adb5b5717","text":"{\"activity\":{\"id\":20,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"TEXT-OF-MARY 20\",\"body\":\"There\"}","tracking":null}, 
 {"id":"01a21a43-eea3-7003-b040-d5809875708a","text":"{\"activity\":{\"id\":1,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"TEXT-OF-MARY 1\",\"body\":\"There\"}{\"activity\":{\"id\":2,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"TEXT-OF-MARY 2\",\"body\":\"There\"}{\"activity\":{\"id\":1,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"Hello John 1\",\"body\":\"There\"}","tracking":null}, 
 {"id":"01a21a43-eec8-7001-99d3-d0027effacff","text":"{\"activity\":{\"id\":3,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"TEXT-OF-MARY 3\",\"body\":\"There\"}","tracking":null}, 
 {"id":"01a21a43-eef3-7001-b06c-a2efa4338612","text":"{\"activity\":{\"id\":3,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"Hello John 3\",\"body\":\"There\"}","tracking":null}]$json$);
delete from status_counter;
insert into status_counter overriding system value select * from json_populate_recordset(null::status_counter, $json$[{"id":1,"last":0}]$json$);
delete from status_messages;
insert into status_messages overriding system value select * from json_populate_recordset(null::status_messages, $json$[{"ref":"01a21a43-edf8-7000-97bf-3d91474f1673","brand":"1","channel":"site","user_id":"john","meta":"{\"activity\":{\"id\":20,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9}}"}, 
 {"ref":"01a21a43-ee88-7000-ba2b-16a2aaae61ed","brand":"1","channel":"site","user_id":"mary-4711","meta":"{\"activity\":{\"id\":20,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9}}"}, 
 {"ref":"01a21a43-eea3-7000-a76a-ccefb20f3a5a","brand":"1","channel":"push","user_id":"mary-4711","meta":"{\"activity\":{\"id\":1,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9}}"}, 
 {"ref":"01a21a43-eea3-7001-b9ea-8d1536362c3d","brand":"1","channel":"push","user_id":"mary-4711","meta":"{\"activity\":{\"id\":2,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9}}"}, 
 {"ref":"01a21a43-eea3-7002-96b6-d915062904ac","brand":"1","channel":"push","user_id":"john","meta":"{\"activity\":{\"id\":1,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9}}"}, 
 {"ref":"01a21a43-eec8-7000-924d-10b2ec3975f4","brand":"1","channel":"push","user_id":"mary-4711","meta":"{\"activity\":{\"id\":3,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9}}"}, 
 {"ref":"01a21a43-eef3-7000-9fa7-67bdff965109","brand":"1","channel":"push","user_id":"john","meta":"{\"activity\":{\"id\":3,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9}}"}]$json$);
delete from statuses;
insert into statuses overriding system value select * from json_populate_recordset(null::statuses, $json$[{"ref":"01a21a43-edf8-7000-97bf-3d91474f1673","status":"delivered","brand":"1","at":"2026-11-26T23:49:49.197","recorded_at":1795736989197,"number":null}, 
 {"ref":"01a21a43-ee88-7000-ba2b-16a2aaae61ed","status":"delivered","brand":"1","at":"2026-11-26T23:49:49.325","recorded_at":1795736989325,"number":null}, 
 {"ref":"01a21a43-eea3-7000-a76a-ccefb20f3a5a","status":"sent","brand":"1","at":"2026-11-26T23:49:49.363","recorded_at":1795736989363,"number":null}, 
 {"ref":"01a21a43-eea3-7001-b9ea-8d1536362c3d","status":"sent","brand":"1","at":"2026-11-26T23:49:49.363","recorded_at":1795736989363,"number":null}, 
 {"ref":"01a21a43-eea3-7002-96b6-d915062904ac","status":"sent","brand":"1","at":"2026-11-26T23:49:49.363","recorded_at":1795736989363,"number":null}, 
 {"ref":"01a21a43-eec8-7000-924d-10b2ec3975f4","status":"sent","brand":"1","at":"2026-11-26T23:49:49.41","recorded_at":1795736989411,"number":null}, 
 {"ref":"01a21a43-eef3-7000-9fa7-67bdff965109","status":"sent","brand":"1","at":"2026-11-26T23:49:49.435","recorded_at":1795736989435,"number":null}]$json$);
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
