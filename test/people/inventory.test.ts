// The inventory of personal data is complete: a new table or column must say what it holds about a person.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import type { PersonPart, PersonTable } from '../../src/base/people/person-data.ts'
import type { Migration } from '../../src/base/store/database.ts'
import { migrateSqlite } from '../../src/base/store/sqlite-migrate.ts'
import { operatorPersonParts } from '../../src/sides/operator/people.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { platformPersonParts } from '../../src/sides/platform/people.ts'
import { platformDatabases } from '../../src/sides/platform/stores.ts'
import { crmPersonParts } from '../../src/subjects/reconcile/person-data.ts'

/** Tables whose rows have no relation to a person, each with its contents. */
const impersonalTables: Readonly<Record<string, string>> = {
  migrations: 'names of migrations',
  side_secrets: 'random secrets of the side',
  access_keys: 'names and digests of keys of services',
  alert_reports: 'troubles of lanes, services and stores',
  stored_lanes: 'settings of lanes',
  write_probes: 'the last write of a process',
  waiting: 'numbers of items and times',
  lane_counts: 'counts of items',
  failed_counts: 'counts of Failed Actions by activity, action and reason',
  outcome_counts: 'counts of outcomes by activity and action',
  message_counts: 'counts of messages',
  controls: 'pauses and settings of lanes',
  brand_moves: 'brands and stores',
  lane_processes: 'processes and lanes',
  lane_owners: 'processes and lanes',
  removal_brakes: 'counts of removals of a push service',
  removal_tallies: 'counts of removals of a push service',
  status_counter: 'a number',
  status_batches: 'numbers and tags',
  conversions: 'the stage of an identifier, by activity and action',
  conversion_counts: 'counts of conversions',
  awaited_identifiers: 'identifiers and times',
  status_cursors: 'cursors of lanes',
  reconciliation_runs: 'counts and times of runs',
  corrections: 'counts and times of corrections',
}

async function columnsOf(migrations: readonly Migration[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const db = new DatabaseSync(':memory:')
  await migrateSqlite(db, migrations)
  const tables = db.prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`).all()
  const columns = tables.map(({ name }) => {
    const rows = db.prepare('select name from pragma_table_info(?)').all(name as string)
    return [String(name), rows.map((row) => String(row.name)).toSorted()] as const
  })
  db.close()
  return new Map(columns)
}

function listedColumns(table: PersonTable): readonly string[] | 'all' {
  if ('deleted' in table) return 'all'
  const { digest = [], emptied = [], kept = {}, impersonal } = table
  return [...digest, ...emptied, ...Object.keys(kept), ...impersonal].toSorted()
}

async function check(migrations: readonly Migration[], parts: readonly PersonPart[]): Promise<void> {
  const stored = await columnsOf(migrations)
  const listed = new Map(parts.flatMap(({ tables }) => tables).map((each) => [each.table, each]))
  const help = 'list it in the person-data.ts of its subject, or in this test as a table without a person'
  for (const [name, columns] of stored) {
    const table = listed.get(name)
    if (!table) {
      assert.ok(name in impersonalTables, `the table ${name} is not in the inventory: ${help}`)
      continue
    }
    assert.ok(!(name in impersonalTables), `${name} is in both lists`)
    const own = listedColumns(table)
    if (own !== 'all') assert.deepEqual(own, columns, `the columns of ${name}: ${help}`)
  }
  assert.deepEqual(
    [...listed.keys()].filter((name) => !stored.has(name)),
    [],
    'the inventory lists tables that do not exist',
  )
}

test("each table and column of the operator's store is in the inventory of personal data", () =>
  check(operatorMigrations, operatorPersonParts))

test("each table and column of the platform's stores is in the inventory of personal data", () =>
  check(
    platformDatabases({ store: 'sqlite:platform.db' }).flatMap(({ migrations }) => migrations),
    [...platformPersonParts, ...crmPersonParts],
  ))
