// `bellwire backup` and `bellwire restore` with a platform that delivers itself.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, truncateSync } from 'node:fs'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { sealBackup } from '../../src/base/store/backup-folder.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { startConfiguredOperator, startConfiguredPlatform } from '../support/configured-sides.ts'
import { adminKey, element, enqueueAt, get, post, temporary, untilSettled } from '../support/sides.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { addressesOf, freePlatformPorts, run, start } from './bellwire.ts'

const example = join(import.meta.dirname, '../../examples/own-delivery.yaml')
const { key } = adminKey

test('a platform is backed up while it runs; after a loss, what it delivers itself waits for a person', async (t) => {
  const folder = await temporary(t)
  const env = (store: string) => ({
    BELLWIRE_PLATFORM_STORE: `sqlite:${join(folder, store, 'platform.db')}`,
    BELLWIRE_PLATFORM_OWN_PUSH: `{provider: recording, file: ${join(folder, 'pushes.ndjson')}}`,
    BELLWIRE_PLATFORM_KEYS: JSON.stringify([{ ...adminKey, scopes: [...adminKey.scopes] }]),
  })
  const sent = async (admin: string, id: number) => {
    await enqueueAt(admin, [element({ id })])
    await untilSettled(admin)
  }
  const first = start(t, ['platform', '-c', example], { ...freePlatformPorts, ...env('lost') })
  const { admin } = await addressesOf(first)
  await sent(admin, 31)
  const added = await post(`${admin}/admin/lanes/add`, { settings: { brand: 2, channel: 'push', to: 'own' } }, key)
  assert.equal(added.status, 200, added.text)
  const out = join(folder, 'backup')
  const args = ['backup', 'platform', '--out', out, '--url', admin]
  const made = await run(args, { BELLWIRE_KEY: key })
  assert.equal(made.code, 0, made.err)
  assert.match(
    made.out,
    /^platform: the state of \S+ is in .*\n {2}crm\.db, [\d,]+ bytes, sha256 \w{64}\n {2}store\.db/,
  )
  assert.deepEqual(
    await Promise.all([out, join(out, 'store.db')].map(async (path) => (await stat(path)).mode & 0o777)),
    [0o700, 0o600],
  )
  assert.match((await run(args, { BELLWIRE_KEY: key })).err, /exists: name a new folder/)
  await sent(admin, 32)
  first.child.kill('SIGKILL')
  await first.ended

  const restore = (store: string, ...more: string[]) =>
    run(['restore', out, '--no-erasures', '-c', example, ...more], env(store))
  assert.match((await restore('lost')).err, /lost\/platform\.db exists: stop the side and move the file away/)
  const checked = await restore('new', '--check')
  assert.deepEqual(
    [checked.code, /^platform: the backup of \S+ is in order$/m.test(checked.out)],
    [0, true],
    checked.err,
  )
  assert.ok(!existsSync(join(folder, 'new')))
  const restored = await restore('new')
  assert.equal(restored.code, 0, restored.err)
  assert.match(restored.out, /Paused: 1\/push, 1\/site, 2\/push\./)

  const { url: again } = await startConfiguredPlatform(t, example, env('new'))
  // The message of the backup is known. The later one is not: its record is accepted and waits.
  const { body } = await enqueueAt(again, [element({ id: 31 }), element({ id: 32 })])
  assert.deepEqual([body.repeated, body.accepted], [1, 1])
  const { body: counts } = await get(`${again}/admin/summary`)
  assert.deepEqual([counts.successful, counts.waiting], [1, 1])
  const { body: audit } = await get(`${again}/admin/audit?act=restore`)
  assert.deepEqual(
    audit.entries.map(({ by, given }: { by: string; given: { paused: unknown } }) => [by, given.paused]),
    [['bellwire restore', ['1/push', '1/site', '2/push']]],
  )
})

test('a store that a later release has only extended is restored; move, which would leave out the unknown, refuses it', async (t) => {
  const folder = await temporary(t)
  const config = join(folder, 'bellwire.yaml')
  await writeFile(
    config,
    `operator: {store: "sqlite:operator.db", keys: [{name: platform, key: ${key}, brands: [1]}], suppression: none, site: inbox}\n`,
  )
  const extend = async (url: string, readableFrom: string): Promise<void> => {
    const later = { name: `later/${readableFrom}`, statements: () => [], readableFrom }
    await (await openDatabase(url, { migrations: [...operatorMigrations, later] })).close()
  }
  const backup = async (name: string, readableFrom: string): Promise<string> => {
    const out = join(folder, name)
    await mkdir(out)
    await extend(`sqlite:${join(out, 'store.db')}`, readableFrom)
    await sealBackup(out, { side: 'operator', at: '2026-01-31T10:00:00Z', version: '99.0.0' })
    return out
  }
  const changed = await run(['restore', await backup('changed', '99.0.0'), '--check', '-c', config])
  assert.deepEqual([changed.code, /install 99\.0\.0 or later/.test(changed.err)], [2, true], changed.err)
  const extended = await run(['restore', await backup('extended', '0.1.0'), '--no-erasures', '-c', config])
  assert.equal(extended.code, 0, extended.err)
  const moved = await run(['move', 'operator', '--to', 'postgres://127.0.0.1:1/x', '--yes', '-c', config])
  assert.deepEqual(
    [moved.code, /\(migration later\/0\.1\.0\): move it with that version/.test(moved.err)],
    [2, true],
    moved.err,
  )
})

test('a full disk leaves neither half of a backup nor half of a store, and a second command leaves the files of the first one', async (t) => {
  const folder = await temporary(t)
  const disk = mountSmallDisk(8)
  t.after(() => disk.remove())
  const config = join(folder, 'bellwire.yaml')
  const written = (store: string) =>
    `operator: {store: "sqlite:${store}", host: 127.0.0.1, keys: [{name: platform, key: the-key-of-the-platform-1, brands: [1]}], admin_keys: [{name: office, key: ${key}, scopes: [backup]}], suppression: none, site: inbox}\n`
  await writeFile(config, written('operator.db'))
  const { url: admin, stop } = await startConfiguredOperator(t, config)
  const backUp = (out: string) => run(['backup', 'operator', '--out', out, '--url', admin], { BELLWIRE_KEY: key })
  const out = join(folder, 'backup')
  assert.equal((await backUp(out)).code, 0)
  disk.fill()
  truncateSync(join(disk.folder, 'filler'), 8 * 1024 * 1024 - 100 * 1024)
  const full = await backUp(join(disk.folder, 'backup'))
  assert.deepEqual([full.code, /--out cannot be written: ENOSPC/.test(full.err)], [2, true], full.err)
  assert.deepEqual(readdirSync(disk.folder), ['filler'])
  await mkdir(join(folder, 'second.part'))
  const second = await backUp(join(folder, 'second'))
  assert.deepEqual([second.code, /another backup is being written to it/.test(second.err)], [2, true], second.err)
  assert.ok(existsSync(join(folder, 'second.part')), 'the files of the other one')
  await stop()

  const store = join(disk.folder, 'operator.db')
  await writeFile(config, written(store))
  const restore = () => run(['restore', out, '--no-erasures', '-c', config])
  const noSpace = await restore()
  assert.deepEqual([noSpace.code, /^bellwire: nothing was restored: ENOSPC/m.test(noSpace.err)], [1, true], noSpace.err)
  assert.deepEqual(readdirSync(disk.folder), ['filler'])
  disk.free()
  await writeFile(`${store}.restoring`, 'of another command')
  const twice = await restore()
  assert.deepEqual([twice.code, /another restore is running/.test(twice.err)], [2, true], twice.err)
  assert.equal(await readFile(`${store}.restoring`, 'utf8'), 'of another command')
  await rm(`${store}.restoring`)
  assert.equal((await restore()).code, 0)
  assert.deepEqual(readdirSync(disk.folder), ['operator.db'])
})

test('restore names what is wrong before it changes anything', async (t) => {
  const folder = await temporary(t)
  const none = await run(['restore', folder, '-c', example])
  assert.deepEqual([none.code, /not a complete backup/.test(none.err)], [1, true])
  await mkdir(join(folder, 'backup'))
  const operator = await run(['backup', 'side', '--out', join(folder, 'backup')])
  assert.equal(operator.code, 2)
})
