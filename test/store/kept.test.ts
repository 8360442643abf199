// The stores of each release are opened by this version, with everything that they hold, and released migrations are never edited.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { freshSchema, query, withoutPostgres } from '../support/services/postgres.ts'
import { setClock } from '../support/set-clock.ts'
import { temporary } from '../support/sides.ts'
import { keptFolder, migrationsOf, readAnswers, restoreFiles, type Side, sides } from './kept-store.ts'
import { digestsFile, readDigests } from './migration-digests.ts'

const releases = globSync('*/', { cwd: keptFolder }).sort()
const skip = await withoutPostgres()

for (const release of releases)
  for (const side of sides) {
    const kept = join(keptFolder, release)
    test(`the SQLite file of the ${side} of ${release} has its messages, devices, inbox and audit trail`, async (t) => {
      await compareAnswers(t, side, join(kept, `${side}-sqlite.json`), restoreFiles(kept, side, await temporary(t)))
    })

    test(`the PostgreSQL schema of the ${side} of ${release} has its messages, devices, inbox and audit trail`, {
      skip,
    }, async (t) => {
      const store = await freshSchema()
      await query(store, `create schema ${new URL(store).searchParams.get('schema')}`)
      await query(store, readFileSync(join(kept, `${side}.sql`), 'utf8'))
      await compareAnswers(t, side, join(kept, `${side}-postgres.json`), store)
    })
  }

/** At the time when the store was kept: later, its rows would be too old. */
async function compareAnswers(t: test.TestContext, side: Side, file: string, store: string): Promise<void> {
  const { at, answers } = JSON.parse(readFileSync(file, 'utf8')) as { at: number; answers: object }
  setClock(t, at - Date.now())
  assert.deepEqual(await readAnswers(t, side, store), answers)
}

const released = JSON.parse(readFileSync(digestsFile, 'utf8')) as Record<string, Record<Side, readonly string[]>>

test('each released migration has the text and the place that it had at its release', () => {
  const digests = readDigests()
  for (const [release, ofSides] of Object.entries(released))
    for (const side of sides) {
      const had = new Set(ofSides[side])
      assert.deepEqual(
        digests[side]?.filter((each) => had.has(each)),
        ofSides[side],
        `${side} of ${release}`,
      )
    }
})

test('each migration after the first release names the oldest release that may use the store afterwards', () => {
  const known = new Set(Object.values(released).flatMap((ofSides) => sides.flatMap((side) => ofSides[side])))
  const digests = readDigests()
  for (const side of sides)
    for (const [i, { name, readableFrom }] of migrationsOf[side].entries())
      assert.ok(known.has(digests[side]?.[i] as string) || readableFrom !== undefined, `${name} has no readableFrom`)
})
