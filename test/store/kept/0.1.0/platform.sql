create table if not exists migrations (
       name text primary key, at bigint not null, readable_from text not null default '0.1.0');
create table if not exists write_probes (owner text collate "C" primary key, at bigint not null, contents text not null);
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
           values ('queue/1', 1795737538055, '0.1.0');
create table identifiers (seq bigint not null, lane text collate "C" not null, ref text collate "C" not null, replayed_at bigint);
create index identifiers_ref on identifiers (lane, ref);
create index identifiers_seq on identifiers (seq);
insert into migrations (name, at, readable_from)
           values ('identifiers/1', 1795737538055, '0.1.0');
create table attempts (
         seq bigint not null, replay bigint not null, slot bigint not null, attempt bigint not null, at bigint not null,
         outcome text not null, status bigint, reason text not null, rule text not null, error text not null, answer text,
         call text collate "C",          replayed_by text, replayed_at bigint, primary key (seq, replay, slot));
create index attempts_at on attempts (at);
insert into migrations (name, at, readable_from)
           values ('attempts/1', 1795737538055, '0.1.0');
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
           values ('failed_counts/failed', 1795737538055, '0.1.0');
create table lane_processes (owner text collate "C" primary key, version bigint not null, lanes text not null);
create table lane_owners (lane text collate "C" primary key, owner text collate "C" not null);
insert into migrations (name, at, readable_from)
           values ('queue/owners', 1795737538055, '0.1.0');
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
           values ('queue/owners/brand-moves', 1795737538055, '0.1.0');
create table outcome_counts (
       lane text collate "C" not null, day bigint not null, activity text collate "C" not null, action text collate "C" not null, action_group text collate "C" not null,
       successful bigint not null, failed bigint not null,
       primary key (lane, day, activity, action)) with (fillfactor = 50);
insert into migrations (name, at, readable_from)
           values ('outcome-counts/1', 1795737538055, '0.1.0');
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
           values ('lane_counts/waiting', 1795737538055, '0.1.0');
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
           values ('lane_counts/settled', 1795737538055, '0.1.0');
create table calls (
         id text collate "C" primary key, provider text not null, at bigint not null, ms bigint not null, messages bigint not null,
         rule text not null, answer text, error text) partition by range (id);
insert into migrations (name, at, readable_from)
           values ('calls/1', 1795737538055, '0.1.0');
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
           values ('devices/1', 1795737538055, '0.1.0');
create table device_removals (
       brand text collate "C" not null, device text collate "C" not null, user_id text collate "C" not null, link_at text collate "C" not null, at text collate "C" not null,
       why text not null, removed_at bigint not null, restored_at bigint,
       primary key (brand, device, user_id, at));
create index device_removals_removed_at on device_removals (removed_at, brand);
insert into migrations (name, at, readable_from)
           values ('devices/2', 1795737538055, '0.1.0');
create table reported_statuses (
         lane text collate "C" not null, ref text collate "C" not null, status text collate "C" not null, at text collate "C" not null, meta text,
         received_at bigint not null, primary key (lane, ref, status));
create index reported_statuses_received on reported_statuses (received_at);
create table awaited_identifiers (
         lane text collate "C" not null, ref text collate "C" not null, since bigint not null, reports bigint not null, primary key (lane, ref));
create table status_cursors (lane text collate "C" not null primary key, cursor text collate "C" not null, at bigint not null);
insert into migrations (name, at, readable_from)
           values ('conversions/1', 1795737538055, '0.1.0');
create table conversions (
         lane text collate "C" not null, ref text collate "C" not null, day bigint not null, activity text collate "C" not null, action text collate "C" not null,
         stage bigint not null, failed bigint not null,
         primary key (lane, ref));
create index conversions_day on conversions (day, lane, ref);
insert into migrations (name, at, readable_from)
           values ('conversions/2', 1795737538055, '0.1.0');
create table if not exists conversion_counts (
         scope text collate "C" not null, name text collate "C" not null, writer integer not null, n bigint not null,
         primary key (scope, name, writer)) with (fillfactor = 50);
create function count_conversions_insert() returns trigger language plpgsql as $$ begin
       insert into conversion_counts (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (select x.lane as scope, (x.day || ' ' || x.activity || ' ' || x.action || ' ' ||
            case when x.stage = 0 and x.failed = 1 then 'failed' else x.stage || '' end) as name, sum(1) as n from added x group by 1, 2) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = conversion_counts.n + excluded.n;
       return null;
     end $$;
create trigger conversions_insert after insert on conversions referencing new table as added
       for each statement execute function count_conversions_insert();
create function count_conversions_delete() returns trigger language plpgsql as $$ begin
       insert into conversion_counts (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (select x.lane as scope, (x.day || ' ' || x.activity || ' ' || x.action || ' ' ||
            case when x.stage = 0 and x.failed = 1 then 'failed' else x.stage || '' end) as name, -sum(1) as n from removed x group by 1, 2) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = conversion_counts.n + excluded.n;
       return null;
     end $$;
create trigger conversions_delete after delete on conversions referencing old table as removed
       for each statement execute function count_conversions_delete();
create function count_conversions_update() returns trigger language plpgsql as $$ begin
       insert into conversion_counts (scope, name, writer, n)
       select d.scope, d.name, pg_backend_pid(), sum(d.n) from (select x.lane as scope, (x.day || ' ' || x.activity || ' ' || x.action || ' ' ||
            case when x.stage = 0 and x.failed = 1 then 'failed' else x.stage || '' end) as name, -sum(1) as n from removed x group by 1, 2 union all select x.lane as scope, (x.day || ' ' || x.activity || ' ' || x.action || ' ' ||
            case when x.stage = 0 and x.failed = 1 then 'failed' else x.stage || '' end) as name, sum(1) as n from added x group by 1, 2) d
       group by d.scope, d.name having sum(d.n) <> 0
       on conflict (scope, name, writer) do update set n = conversion_counts.n + excluded.n;
       return null;
     end $$;
create trigger conversions_update after update on conversions referencing old table as removed new table as added
       for each statement execute function count_conversions_update();
insert into migrations (name, at, readable_from)
           values ('conversion_counts/conversions', 1795737538055, '0.1.0');
create table permissions (id bigint primary key, basis text not null);
insert into migrations (name, at, readable_from)
           values ('permissions/1', 1795737538055, '0.1.0');
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
           values ('messages/1', 1795737538055, '0.1.0');
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
           values ('message_counts/messages', 1795737538055, '0.1.0');
create table requests (id text collate "C" primary key, text text not null, tracking text) partition by range (id);
insert into migrations (name, at, readable_from)
           values ('requests/1', 1795737538055, '0.1.0');
create table refusals (
         brand text collate "C" not null, ref text collate "C" not null, attempt bigint not null, at bigint not null, category text not null,
         reason text not null, error text not null, rule text not null, answer text, call text collate "C", uncertain bigint not null,
         primary key (brand, ref, attempt, at)) partition by range (at);
insert into migrations (name, at, readable_from)
           values ('refusals/1', 1795737538055, '0.1.0');
create table device_sends (
         brand text collate "C" not null, ref text collate "C" not null, attempt bigint not null, device text collate "C" not null, service text not null,
         category text not null, rule text not null, provider_id text, error text, answer text, uncertain bigint not null,
         at bigint not null,
         primary key (brand, ref, attempt, device, at)) partition by range (at);
insert into migrations (name, at, readable_from)
           values ('device_sends/1', 1795737538055, '0.1.0');
create table revoked_tokens (brand text collate "C" not null, digest text collate "C" primary key, before bigint not null);
insert into migrations (name, at, readable_from)
           values ('revoked_tokens/1', 1795737538055, '0.1.0');
create table removal_brakes (
         service text collate "C" primary key, stopped_at bigint not null, removals bigint not null, sends bigint not null,
         allowed_until bigint not null, confirmed_at bigint not null, confirmed_by text not null);
create table removal_tallies (
         service text collate "C" not null, process text collate "C" not null, minute bigint not null, sends bigint not null, removals bigint not null,
         primary key (service, process, minute));
insert into migrations (name, at, readable_from)
           values ('removal_brake/1', 1795737538055, '0.1.0');
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
           values ('inbox/1', 1795737538055, '0.1.0');
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
           values ('audit/1', 1795737538055, '0.1.0');
create table person_secrets (brand text collate "C" primary key, secret text not null);
create table erasures (
         id text collate "C" primary key, brand text collate "C" not null, user_id text collate "C", digest text collate "C" not null, at bigint not null,
         requested_by text not null, done_at bigint, counts text not null, waiting bigint not null);
create index erasures_open on erasures (id) where done_at is null;
insert into migrations (name, at, readable_from)
           values ('people/1', 1795737538055, '0.1.0');
create table side_secrets (name text collate "C" primary key, secret text not null);
insert into migrations (name, at, readable_from)
           values ('secrets/1', 1795737538055, '0.1.0');
create table access_keys (
         name text collate "C" primary key, digest text collate "C" not null, scopes text not null, brands text, networks text,
         expires_at text, added_by text not null, added_at bigint not null, used_at bigint);
insert into migrations (name, at, readable_from)
           values ('access_keys/1', 1795737538055, '0.1.0');
create table alert_reports (
         name text collate "C" primary key, says text not null, remedy text not null, since bigint not null, beat bigint not null);
insert into migrations (name, at, readable_from)
           values ('alerts/1', 1795737538055, '0.1.0');
create table stored_lanes (
         lane text collate "C" primary key, settings text not null, changed_by text not null, changed_at bigint not null);
insert into migrations (name, at, readable_from)
           values ('stored_lanes/1', 1795737538055, '0.1.0');
create table crm_users (
        brand text collate "C" not null,
        user_id text collate "C" not null,
        blocked_at bigint, blocked smallint,
        excluded_at bigint, excluded smallint,
        active_at bigint, active smallint,
        consent_email_at bigint, consent_email smallint,
        consent_sms_at bigint, consent_sms smallint,
        consent_telephone_at bigint, consent_telephone smallint,
        consent_post_mail_at bigint, consent_post_mail smallint,
        consent_site_notification_at bigint, consent_site_notification smallint,
        consent_push_notification_at bigint, consent_push_notification smallint,
        primary key (brand, user_id)
      );
insert into migrations (name, at, readable_from)
           values ('crm/1', 1795737538055, '0.1.0');
create table reconciliation_runs (
        brand text collate "C" not null, run text collate "C" not null, field text not null,
        requested_at bigint not null, requested_by text not null, any_size bigint not null,
        state text not null, started_at bigint, ended_at bigint, data_at bigint,
        ids bigint not null, bytes bigint not null, memory bigint not null,
        crm_users bigint, operator_only bigint, crm_only bigint, too_recent bigint,
        why text, detail text, acknowledged_at bigint, acknowledged_by text,
        primary key (brand, run)
      );
create unique index reconciliation_runs_by_run on reconciliation_runs (run);
create unique index reconciliation_runs_open on reconciliation_runs (brand, field)
       where state in ('requested', 'streaming', 'comparing');
insert into migrations (name, at, readable_from)
           values ('reconcile/1', 1795737538055, '0.1.0');
create table discrepancies (
        brand text collate "C" not null, run text collate "C" not null, n bigint not null, field text not null,
        user_id text collate "C" not null, direction text not null, severity text not null, crm_at bigint, correction text,
        primary key (brand, run, n)
      );
create index discrepancies_user on discrepancies (user_id, brand);
insert into migrations (name, at, readable_from)
           values ('reconcile/2', 1795737538055, '0.1.0');
create table corrections (
        brand text collate "C" not null, correction text collate "C" not null, run text collate "C" not null, field text not null, what text not null,
        at bigint not null, by text not null, applied bigint, skipped bigint,
        primary key (brand, correction)
      );
insert into migrations (name, at, readable_from)
           values ('reconcile/3', 1795737538055, '0.1.0');
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
insert into audit overriding system value select * from json_populate_recordset(null::audit, $json$[{"serial":1,"at":1795737537771,"act":"attributes.change","by":"admin","address":"127.0.0.1","brand":"1","user_id":"john","user_salt":"KC4ctDVezkHjtZX9EAWtmw","user_digest":"4d7389e8abfebe2e372f6455b1713b13f5b1d2ed60b0c901a862c3110bf2d149","details":"{\"old\":{},\"new\":{\"excluded\":true}}","digest":"169cdd59391aacf0cda82577c03218df6454134adc24092679bec2328d811660"}, 
 {"serial":2,"at":1795737537798,"act":"attributes.change","by":"admin","address":"127.0.0.1","brand":"1","user_id":"mary-4711","user_salt":"ooE4885Hs1XWio7DkcRB7w","user_digest":"f0cb81a929e501800ce60a134a0d5bd07d70c3782dc276a2a23ae63f0ba78d44","details":"{\"old\":{},\"new\":{\"excluded\":true}}","digest":"1e8aeb9a6f5b93709cf0b6a48e72451dd2d3562e2e5c686420a13d254dabec48"}, 
 {"serial":3,"at":1795737537813,"act":"messages.find","by":"admin","address":"127.0.0.1","brand":"1","user_id":"mary-4711","user_salt":"VETima5H2JeElelA1nOc1A","user_digest":"fddafcd788d2d497dc6e44f27e90d0e65546fa513486ace8ce668e74e9e719c3","details":null,"digest":"671df5fdb0205a8a590350c735a3ad3d650475aa0a2f99b9c68fb07ab6819574"}, 
 {"serial":4,"at":1795737537832,"act":"messages.find","by":"admin","address":"127.0.0.1","brand":"1","user_id":"mary-4711","user_salt":"BMTV8wjn-1qz-I_S8CZN9Q","user_digest":"2ce3f2d5a36d6f55909bfaeaee115ac3834a470c14cc2d68c3c81d2201311d7c","details":null,"digest":"4eaa3129aad725400dbe31e0a73b5348d27e4b6e9ad10a6cfa5fa5c1e118a5df"}, 
 {"serial":5,"at":1795737537848,"act":"messages.find","by":"admin","address":"127.0.0.1","brand":"1","user_id":"mary-4711","user_salt":"3YGBdgPOLoSATrc9fSoDIA","user_digest":"076d3fd1ff865550412855d64c3c339cdc016d1879273380e2602dad7035f1d6","details":null,"digest":"1b70bc3a6f1eef3d85989b72b2cb64faa16af7fb8fb14d828b57db1d056cfe1d"}, 
 {"serial":6,"at":1795737537867,"act":"messages.find","by":"admin","address":"127.0.0.1","brand":"1","user_id":"mary-4711","user_salt":"_WgdhVKbmflu_XulUD6qhw","user_digest":"0a6077f1f898f62a687fd2c3c0e2505df233cbb7347bf32e24d56de994e21534","details":null,"digest":"296f4614600cfae94746117dc502f10158e14a47a7191c585f5abdc0cb410274"}, 
 {"serial":7,"at":1795737537891,"act":"messages.find","by":"admin","address":"127.0.0.1","brand":"1","user_id":"mary-4711","user_salt":"vY4Gea9HMMTBBWEGvdH0_g","user_digest":"572fae6b3e39de956cf22d3fc033968b77778293027fb19ad921800c0c4bc39b","details":null,"digest":"5820348f46d03fe148be8c0783faf630a58a64ca061d38e223a3f15d85f54b31"}, 
 {"serial":8,"at":1795737537925,"act":"messages.find","by":"admin","address":"127.0.0.1","brand":"1","user_id":"mary-4711","user_salt":"6nNT3Lfq9lLPri5hsMG2rw","user_digest":"0a6b5d15b4535ca57e43808c1d0c1b09dec72636e7a5e482b6f1e02e39f7113f","details":null,"digest":"bab0716b492318e5a77b58dc72549417249a912d7106e640389069b5fc9dc635"}, 
 {"serial":9,"at":1795737537978,"act":"messages.find","by":"admin","address":"127.0.0.1","brand":"1","user_id":"mary-4711","user_salt":"Axb1vodlfDaL5FTiljwuMw","user_digest":"34f3e5e40a8620474519074af019ac99b09a940d467521915ce33480da7ee160","details":null,"digest":"7ae4515d3593e0cecae8db3668d921faffba2fa42d53f7ad4bc0fb98b2d90a8c"}, 
 {"serial":10,"at":1795737538039,"act":"messages.find","by":"admin","address":"127.0.0.1","brand":"1","user_id":"mary-4711","user_salt":"tD1sq_sIwkM9nNH9iNEZkQ","user_digest":"906653b7831b6f9f40bcf7140464f9d48f8192ceb538051cb1b3c37f6da65b0a","details":null,"digest":"d40257fb9b9676a36193170738e574a114c3ef3d24ffb8d3c31fdf58f5ef0cf8"}]$json$);
delete from calls;
insert into calls overriding system value select * from json_populate_recordset(null::calls, $json$[{"id":"01a21a4c-4d8f-7000-800b-e3ad8a0d52a5","provider":"witness","at":1795737537934,"ms":0,"messages":3,"rule":"refused","answer":null,"error":"refused: [\"push\",\"2\",\"john\",\"7\",\"9\",\"hash\"]"}, 
 {"id":"01a21a4c-4dc6-7003-b8cd-65c655195606","provider":"witness","at":1795737537990,"ms":0,"messages":3,"rule":"refused","answer":null,"error":"refused: [\"push\",\"2\",\"mary-4711\",\"7\",\"9\",\"hash\"]"}]$json$);
delete from crm_users;
insert into crm_users overriding system value select * from json_populate_recordset(null::crm_users, $json$[{"brand":"1","user_id":"john","blocked_at":null,"blocked":null,"excluded_at":1795737537770,"excluded":1,"active_at":null,"active":null,"consent_email_at":null,"consent_email":null,"consent_sms_at":null,"consent_sms":null,"consent_telephone_at":null,"consent_telephone":null,"consent_post_mail_at":null,"consent_post_mail":null,"consent_site_notification_at":null,"consent_site_notification":null,"consent_push_notification_at":null,"consent_push_notification":null}, 
 {"brand":"1","user_id":"mary-4711","blocked_at":null,"blocked":null,"excluded_at":1795737537797,"excluded":1,"active_at":null,"active":null,"consent_email_at":null,"consent_email":null,"consent_sms_at":null,"consent_sms":null,"consent_telephone_at":null,"consent_telephone":null,"consent_post_mail_at":null,"consent_post_mail":null,"consent_site_notification_at":null,"consent_site_notification":null,"consent_push_notification_at":null,"consent_push_notification":null}]$json$);
delete from devices;
insert into devices overriding system value select * from json_populate_recordset(null::devices, $json$[{"brand":"1","device":"1LJ6RJAY1OaRAdAyqdzKV4vRBZLWSC_4zEVVq14FV8M","link_at":"2026-01-01T10:00:00","user_id":"john","token":"token-of-john","kind":"fcm_token","app":"","environment":"","channel":"android","origin":"x","unproven":0}, 
 {"brand":"1","device":"5JVk0TAJ_Xxlqgp-ZYT2ekkeGNB7kzcRJUZaj1jq_9Q","link_at":"2026-01-01T10:00:00","user_id":"mary-4711","token":"token-of-mary","kind":"fcm_token","app":"","environment":"","channel":"android","origin":"x","unproven":0}]$json$);
delete from failed;
insert into failed overriding system value select * from json_populate_recordset(null::failed, $json$[{"seq":2,"lane":"1/push","key":"[\"push\",\"2\",\"john\",\"7\",\"9\",\"hash\"]","activity":"7","action":"9","user_id":"john","reason":"rejected","error":"refused: [\"push\",\"2\",\"john\",\"7\",\"9\",\"hash\"]","rule":"refused","answer":null,"status":null,"call":"01a21a4c-4d8f-7000-800b-e3ad8a0d52a5","attempts":1,"at":1795737537935,"state":0,"replays":0,"decision":null,"decided_by":null,"decided_at":null}, 
 {"seq":5,"lane":"1/push","key":"[\"push\",\"2\",\"mary-4711\",\"7\",\"9\",\"hash\"]","activity":"7","action":"9","user_id":"mary-4711","reason":"rejected","error":"refused: [\"push\",\"2\",\"mary-4711\",\"7\",\"9\",\"hash\"]","rule":"refused","answer":null,"status":null,"call":"01a21a4c-4dc6-7003-b8cd-65c655195606","attempts":1,"at":1795737537992,"state":0,"replays":0,"decision":null,"decided_by":null,"decided_at":null}]$json$);
delete from failed_counts;
insert into failed_counts overriding system value select * from json_populate_recordset(null::failed_counts, $json$[{"scope":"1/push","name":"0 rejected 7 9","writer":27732,"n":2}]$json$);
delete from identifiers;
insert into identifiers overriding system value select * from json_populate_recordset(null::identifiers, $json$[{"seq":1,"lane":"1/push","ref":"ref of 34 [\"push\",","replayed_at":null}, 
 {"seq":4,"lane":"1/push","ref":"ref of 39 [\"push\",","replayed_at":null}]$json$);
delete from items;
insert into items overriding system value select * from json_populate_recordset(null::items, $json$[{"seq":1,"lane":"1/push","key":"[\"push\",\"1\",\"john\",\"7\",\"9\",\"hash\"]","text":"{\"activity\":{\"id\":1,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"Hello John 1\",\"body\":\"There\"}","enqueued_at":1795737537728,"token":46335380914380,"traceparent":null,"user_id":"john","expires_at":null,"transactional":null}, 
 {"seq":2,"lane":"1/push","key":"[\"push\",\"2\",\"john\",\"7\",\"9\",\"hash\"]","text":"{\"activity\":{\"id\":2,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"Hello John 2\",\"body\":\"There\"}","enqueued_at":1795737537728,"token":46335380914381,"traceparent":null,"user_id":"john","expires_at":null,"transactional":null}, 
 {"seq":3,"lane":"1/push","key":"[\"push\",\"3\",\"john\",\"7\",\"9\",\"hash\"]","text":"{\"activity\":{\"id\":3,\"brand_id\":1,\"user_id\":\"john\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"Hello John 3\",\"body\":\"There\"}","enqueued_at":1795737537728,"token":46335380914382,"traceparent":null,"user_id":"john","expires_at":null,"transactional":null}, 
 {"seq":4,"lane":"1/push","key":"[\"push\",\"1\",\"mary-4711\",\"7\",\"9\",\"hash\"]","text":"{\"activity\":{\"id\":1,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"TEXT-OF-MARY 1\",\"body\":\"There\"}","enqueued_at":1795737537789,"token":46335380914383,"traceparent":null,"user_id":"mary-4711","expires_at":null,"transactional":null}, 
 {"seq":5,"lane":"1/push","key":"[\"push\",\"2\",\"mary-4711\",\"7\",\"9\",\"hash\"]","text":"{\"activity\":{\"id\":2,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"TEXT-OF-MARY 2\",\"body\":\"There\"}","enqueued_at":1795737537789,"token":46335380914384,"traceparent":null,"user_id":"mary-4711","expires_at":null,"transactional":null}, 
 {"seq":6,"lane":"1/push","key":"[\"push\",\"3\",\"mary-4711\",\"7\",\"9\",\"hash\"]","text":"{\"activity\":{\"id\":3,\"brand_id\":1,\"user_id\":\"mary-4711\",\"activity_id\":7,\"action_group_id\":8,\"trigger_hash\":\"hash\",\"action_id\":9},\"title\":\"TEXT-OF-MARY 3\",\"body\":\"There\"}","enqueued_at":1795737537789,"token":46335380914385,"traceparent":null,"user_id":"mary-4711","expires_at":null,"transactional":null}]$json$);
delete from lane_counts;
insert into lane_counts overriding system value select * from json_populate_recordset(null::lane_counts, $json$[{"scope":"1/push","name":"waiting","writer":27732,"n":2}, 
 {"scope":"1/push","name":"failed","writer":27732,"n":2}, 
 {"scope":"1/push","name":"successful","writer":27732,"n":2}]$json$);
delete from outcome_counts;
insert into outcome_counts overriding system value select * from json_populate_recordset(null::outcome_counts, $json$[{"lane":"1/push","day":20783,"activity":"7","action":"9","action_group":"8","successful":2,"failed":2}]$json$);
delete from settled;
insert into settled overriding system value select * from json_populate_recordset(null::settled, $json$[{"lane":"1/push","first":1,"last":1,"state":1,"at":1795737537935,"detail":"{\"attempt\":1,\"rule\":\"accepted\",\"call\":\"01a21a4c-4d8f-7000-800b-e3ad8a0d52a5\"}"}, 
 {"lane":"1/push","first":2,"last":2,"state":2,"at":1795737537935,"detail":"{\"attempt\":1,\"rule\":\"refused\",\"call\":\"01a21a4c-4d8f-7000-800b-e3ad8a0d52a5\",\"reason\":\"rejected\",\"error\":\"refused: [\\\"push\\\",\\\"2\\\",\\\"john\\\",\\\"7\\\",\\\"9\\\",\\\"hash\\\"]\"}"}, 
 {"lane":"1/push","first":4,"last":4,"state":1,"at":1795737537992,"detail":"{\"attempt\":1,\"rule\":\"accepted\",\"call\":\"01a21a4c-4dc6-7003-b8cd-65c655195606\"}"}, 
 {"lane":"1/push","first":5,"last":5,"state":2,"at":1795737537992,"detail":"{\"attempt\":1,\"rule\":\"refused\",\"call\":\"01a21a4c-4dc6-7003-b8cd-65c655195606\",\"reason\":\"rejected\",\"error\":\"refused: [\\\"push\\\",\\\"2\\\",\\\"mary-4711\\\",\\\"7\\\",\\\"9\\\",\\\"hash\\\"]\"}"}]$json$);
delete from waiting;
insert into waiting overriding system value select * from json_populate_recordset(null::waiting, $json$[{"lane":"1/push","due_at":0,"seq":3,"attempt":0}, 
 {"lane":"1/push","due_at":0,"seq":6,"attempt":0}]$json$);
select setval(pg_get_serial_sequence('controls', 'id'), (select greatest(1, max(id)) from controls));
select setval(pg_get_serial_sequence('items', 'seq'), (select greatest(1, max(seq)) from items));
set session_replication_role = origin;
