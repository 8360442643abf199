// `bellwire audit` against a running operator: list, export, and a verification (test/audit/chain.test.ts has each kind of tampering).

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { adminKey, get, post, startOperator, temporary } from '../support/sides.ts'
import { run } from './bellwire.ts'

test('audit lists, exports and verifies, and finds an entry that was changed in the database', async (t) => {
  const path = join(await temporary(t), 'operator.db')
  const { url, stop } = await startOperator(t, { store: `sqlite:${path}` })
  const audit = (...args: string[]) => run(['audit', ...args, '--url', url], { BELLWIRE_KEY: adminKey.key })
  for (const user of ['7', '8', '9']) await get(`${url}/admin/messages?brand=1&user_id=${user}`)
  await post(`${url}/admin/failed/dismiss`, { from: '2026-01-01' }, adminKey.key)

  const listed = await audit('list', '--user', '8')
  assert.match(
    listed.out,
    /^STORE +SERIAL +AT +ACT .*\n0 +2 +\S+ +messages\.find +admin +127\.0\.0\.1 +1 +8\n$/,
    listed.err,
  )
  const { entries } = JSON.parse((await audit('list', '--act', 'failed.dismiss', '--json')).out)
  assert.deepEqual(entries[0].given, { from: '2026-01-01' })

  const verified = await audit('verify')
  assert.match(verified.out, /^store 0: 6 entries, 1 to 6, last digest ([0-9a-f]{64})\nIntact\./, verified.err)
  assert.equal(verified.code, 0)
  const [digest = ''] = /[0-9a-f]{64}/.exec(verified.out) ?? []
  assert.equal((await audit('verify', '--expect', digest)).code, 0)
  const replaced = await audit('verify', '--expect', digest, 'f'.repeat(64))
  assert.deepEqual([replaced.code, replaced.out.match(/no entry has the expected digest f{64}/g)?.length], [1, 1])
  const out = join(await temporary(t), 'audit.ndjson')
  assert.equal((await audit('export', '--out', out)).code, 0)
  const check = (...args: string[]) => run(['audit', 'verify', ...args])
  assert.equal((await check('--file', out, '--expect', digest)).code, 0)
  const lines = (await readFile(out, 'utf8')).split('\n')
  await writeFile(out, lines.slice(0, 5).join('\n'))
  assert.equal((await check('--file', out)).code, 0, 'the chain alone does not show that its end is missing')
  const cut = await check('--file', out, '--expect', digest)
  assert.deepEqual([cut.code, /no entry has the expected digest/.test(cut.out)], [1, true], cut.out)
  assert.equal((await check('--file', out, '--expect', 'abc')).code, 2)

  await stop()
  const db = new DatabaseSync(path)
  db.exec("update audit set by = 'nobody' where serial = 3")
  db.close()
  const changed = await startOperator(t, { store: `sqlite:${path}` })
  const found = await run(['audit', 'verify', '--url', changed.url], { BELLWIRE_KEY: adminKey.key })
  assert.deepEqual([found.code, /entry 3: the digest does not fit/.test(found.out)], [1, true], found.out + found.err)
})
