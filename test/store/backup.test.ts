// A backup of SQLite files while commits go on.

import assert from 'node:assert/strict'
import { appendFile, mkdir, open, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { checkBackup, sealBackup } from '../../src/base/store/backup-folder.ts'
import { createBackupReader, type StreamEnd, streamBackup } from '../../src/base/store/backup-stream.ts'
import type { Database } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { op } from '../../src/base/store/statement.ts'
import { user, users } from '../suites/database.ts'
import { temporary } from '../support/sides.ts'
import { forkDatabase } from './database-process.ts'
import { addUsers, migrations } from './users.ts'

const add = (database: Database, id: number) => database.commit([op(addUsers, [user('1', `u${id}`)])])

/** Two files: the stream has several chunks of the first one. */
async function openTwo(t: TestContext, folder: string) {
  const first = await openDatabase(`sqlite:${join(folder, 'a.db')}`, { migrations })
  const second = await openDatabase(`sqlite:${join(folder, 'b.db')}`, { migrations, shared: true })
  t.after(() => Promise.all([first.close(), second.close()]))
  const text = 'x'.repeat(1_000)
  await first.commit([
    op(
      addUsers,
      Array.from({ length: 4_000 }, (_, i) => ['0', `u${i}`, 0, 0, text]),
    ),
  ])
  const named = [
    { name: 'store', database: first },
    { name: 'crm', database: second },
  ]
  return { first, second, named }
}

/** Writes the stream to a folder. @param between runs between two chunks */
async function receive(stream: AsyncIterable<Uint8Array>, folder: string, between = async () => {}) {
  await mkdir(folder, { recursive: true })
  const reader = createBackupReader(async (name) => {
    const file = await open(join(folder, name), 'wx')
    return { write: (bytes) => file.writeFile(bytes), close: () => file.close() }
  })
  try {
    for await (const chunk of stream) {
      await between()
      // The parts of the network are not the chunks of the sender.
      for (let from = 0; from < chunk.length; from += 100_003)
        await reader.write(Buffer.from(chunk).subarray(from, from + 100_003))
    }
  } finally {
    await reader.end()
  }
  return reader.end()
}

const of = { side: 'platform', at: '2026-01-31T10:00:00.000Z', version: '0.1.0' }

test('a backup under load has a common moment of all files, and nothing of later commits', async (t) => {
  const folder = await temporary(t)
  const { first, second, named } = await openTwo(t, folder)
  let added = 0
  const large = 'y'.repeat(1_500_000)
  const addToBoth = async () => {
    await add(first, added)
    await add(second, added)
    // More than a checkpoint waits for, in all.
    await first.commit([op(addUsers, [['2', `u${added}`, 0, 0, large]])])
    added++
  }
  const out = join(folder, 'backup')
  const end = await receive(streamBackup('platform', named), out, addToBoth)
  assert.equal(end && 'side' in end && end.side, 'platform')
  const manifest = await sealBackup(out, of)
  assert.deepEqual(
    manifest.files.map(({ name, migrations: applied }) => [name, applied]),
    [
      ['crm.db', ['test/1', 'test/2']],
      ['store.db', ['test/1', 'test/2']],
    ],
  )
  assert.deepEqual(await checkBackup(out), manifest)

  const copies = await Promise.all(
    ['store', 'crm'].map((name) => openDatabase(`sqlite:${join(out, `${name}.db`)}`, { migrations })),
  )
  t.after(() => Promise.all(copies.map((copy) => copy.close())))
  const [inFirst = 0, inSecond = 0] = await Promise.all(
    copies.map(async (copy) => (await users(copy)).filter(({ brand }) => brand === '1').length),
  )
  assert.ok(inSecond > 0 && inSecond < added, `${inSecond} of ${added} are before the moment`)
  // The commit of the first file may be before the moment and that of the second one after it, but never the reverse.
  assert.ok(inFirst - inSecond <= 1 && inFirst >= inSecond, `${inFirst} and ${inSecond} rows`)
})

test('after a backup, its file is still locked against other processes, and its log is written into it', async (t) => {
  const folder = await temporary(t)
  const { first, named } = await openTwo(t, folder)
  await receive(streamBackup('platform', named), join(folder, 'backup'), async () => void (await add(first, 1)))
  const other = await forkDatabase(t, `sqlite:${join(folder, 'a.db')}`).catch((error: Error) => error)
  assert.ok(other instanceof Error, 'another process opened the file')
  assert.equal((await stat(join(folder, 'a.db-wal'))).size, 0)
})

test('a second backup at the same time is refused, and one that breaks off releases the files', async (t) => {
  const folder = await temporary(t)
  const { first, named } = await openTwo(t, folder)
  const stream = streamBackup('platform', named)
  await stream.next()
  const refused = await receive(streamBackup('platform', named), join(folder, 'refused'))
  assert.deepEqual(refused, { refused: 'another backup of this side is running' } satisfies StreamEnd)
  // An erasure empties the log, which would change the file.
  let reclaimed = false
  const reclaiming = first.reclaim([]).then(() => (reclaimed = true))
  await stream.next()
  assert.equal(reclaimed, false)
  await stream.return(undefined)
  await reclaiming
  assert.ok(await receive(streamBackup('platform', named), join(folder, 'third')))
})

test('a backup of a side that stops meanwhile is not complete', async (t) => {
  const folder = await temporary(t)
  const { first, named } = await openTwo(t, folder)
  const stream = streamBackup('platform', named)
  await assert.rejects(
    receive(stream, join(folder, 'backup'), () => first.close()),
    /The database is closed/,
  )
})

test('a damaged, changed or incomplete backup is refused with the file', async (t) => {
  const folder = await temporary(t)
  const { named } = await openTwo(t, folder)
  const out = join(folder, 'backup')
  await receive(streamBackup('platform', named), out)
  await assert.rejects(checkBackup(out), /manifest\.json cannot be read, so the folder is not a complete backup/)
  await sealBackup(out, of)
  await appendFile(join(out, 'crm.db'), 'x')
  await assert.rejects(checkBackup(out), /crm\.db has changed since the backup/)
  const manifest = join(out, 'manifest.json')
  await writeFile(manifest, (await readFile(manifest, 'utf8')).replace('"format": 1', '"format": 2'))
  await assert.rejects(checkBackup(out), /the format 2 is not known/)

  const bytes = await readFile(join(out, 'store.db'))
  bytes.fill(7, 3 * 8_192, 4 * 8_192)
  await writeFile(join(out, 'store.db'), bytes)
  await assert.rejects(sealBackup(out, of), /store\.db is damaged/)
})
