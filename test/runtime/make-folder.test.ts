import assert from 'node:assert/strict'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { makeFolder } from '../../src/base/runtime/make-folder.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { cached } from '../support/services/cache.ts'
import { temporary } from '../support/sides.ts'

const skip = process.platform !== 'linux' && 'this system has no /proc'

test('a folder is made with those above it, and an existing one stays', async (t) => {
  const path = join(await temporary(t), 'a', 'b', 'c')
  makeFolder(path, 0o700)
  makeFolder(path, 0o755)
  assert.deepEqual(
    [path, join(path, '..'), join(path, '../..')].map((each) => statSync(each).mode & 0o777),
    [0o700, 0o700, 0o700],
  )
})

test('a folder below a file, or below /proc, is an error', { skip }, async (t) => {
  const file = join(await temporary(t), 'file')
  writeFileSync(file, '')
  for (const path of [file, join(file, 'a', 'b')]) assert.throws(() => makeFolder(path), /E(EXIST|NOTDIR)/)
  assert.throws(() => makeFolder('/proc/none/a'), /ENOENT/)
})

test('a download cache that cannot be made is an error that names the variable', { skip }, async (t) => {
  const { XDG_CACHE_HOME: before } = process.env
  t.after(() => {
    if (before === undefined) delete process.env.XDG_CACHE_HOME
    else process.env.XDG_CACHE_HOME = before
  })
  process.env.XDG_CACHE_HOME = '/proc/none'
  await assert.rejects(
    cached('x', async () => {}),
    /\/proc\/none\/bellwire-test cannot be made \(ENOENT.*set XDG_CACHE_HOME/,
  )
})

test('a store below /proc is an error with the remedy', { skip }, async () => {
  await assert.rejects(
    openDatabase('sqlite:/proc/none/operator.db', { migrations: [] }),
    /operator\.db cannot be opened for writing \(ENOENT.*or name another file/,
  )
})
