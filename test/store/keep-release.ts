// npm run keep-release: keeps the stores of this version in test/store/kept, and the digests of its migrations. Run it once, with the
// version of the release in package.json; a kept release is never made again.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { version } from '../../src/base/runtime/version.ts'
import { plantOperator, plantPlatform } from '../people/planted.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'
import { temporary } from '../support/sides.ts'
import { dumpSchema, keepFiles, keptFolder, readAnswers, sides } from './kept-store.ts'
import { digestsFile, readDigests } from './migration-digests.ts'

const kept = join(keptFolder, version())
const skip = await withoutPostgres()
const plant = { operator: plantOperator, platform: plantPlatform }

for (const side of sides)
  test(`the stores of the ${side} are kept`, { skip }, async (t) => {
    mkdirSync(kept, { recursive: true })
    const folder = await temporary(t)
    const stores = { sqlite: `sqlite:${join(folder, `${side}.db`)}`, postgres: await freshSchema() }
    for (const [engine, store] of Object.entries(stores)) {
      const planted = await plant[side](t, store)
      await planted.stop()
      if (engine === 'sqlite') keepFiles(folder, side, kept)
      else writeFileSync(join(kept, `${side}.sql`), await dumpSchema(store, side))
      const at = Date.now()
      const answers = await readAnswers(t, side, store)
      writeFileSync(join(kept, `${side}-${engine}.json`), `${JSON.stringify({ at, answers }, null, 2)}\n`)
    }
  })

test('the digests of the migrations are kept', () => {
  const released = JSON.parse(readFileSync(digestsFile, 'utf8'))
  writeFileSync(digestsFile, `${JSON.stringify({ ...released, [version()]: readDigests() }, null, 2)}\n`)
})
