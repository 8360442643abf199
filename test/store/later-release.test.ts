// A store that a later release has changed.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import type { Migration } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { temporary } from '../support/sides.ts'

const first: Migration = { name: 'x/1', statements: () => ['create table x (a bigint)'] }
const later = (name: string, readableFrom: string): Migration => ({
  name,
  statements: () => [`create table ${name.replace('/', '_')} (a bigint)`],
  readableFrom,
})

test('a store that a later release has only extended is used; once it is changed for newer releases only, it is refused with the remedy', async (t) => {
  const url = `sqlite:${join(await temporary(t), 'x.db')}`
  const open = async (...migrations: readonly Migration[]): Promise<void> =>
    (await openDatabase(url, { migrations, whole: true })).close()
  await open(first)
  await open(first, later('x/2', '0.1.0'))
  await open(first)
  await open(first, later('x/2', '0.1.0'), later('x/3', '0.10.0'), later('x/4', '0.1.0'))
  await assert.rejects(
    open(first),
    /later version of Bellwire \(migration x\/3\), and 0\.1\.0 cannot use it: install 0\.10\.0 or later, or restore a backup/,
  )
  await open(first, later('x/2', '0.1.0'), later('x/3', '0.10.0'))
})
