import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { startFakeOperator } from '../../src/tools/fake/fake-operator.ts'
import { fencedSnippets, pages } from '../docs/blocks.ts'
import { post, temporary } from '../support/sides.ts'
import { run, start } from './bellwire.ts'

/** The lines that the docs show for a command, with any time of day and any identifier. */
const shownLines = (first: RegExp): RegExp[] => {
  const [block, ...others] = pages.flatMap((page) => fencedSnippets(page, '')).filter(({ text }) => first.test(text))
  assert.ok(block && others.length === 0)
  return block.text
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll(/[.*+?^$(){}|[\]\\]/g, '\\$&'))
    .map((line) =>
      line.replace(/^\d\d:\d\d:\d\d\\\.\d{3}/, '\\d\\d:\\d\\d:\\d\\d\\.\\d{3}').replace(/\d{16}/, '\\d{16}'),
    )
    .map((line) => new RegExp(`^${line}$`, 'm'))
}

test('bellwire fake operator prints its address, and the lines of the docs for these requests', {
  timeout: 60_000,
}, async (t) => {
  const fake = start(t, ['fake', 'operator', '--port', '0'])
  const url = /base_url\s+(\S+)/.exec(await fake.line(/base_url/))?.[1]
  const behave = (behaviour: object) => post(`${url}/fake/behaviours`, behaviour, undefined)
  const [one, two] = [1, 2].map((id) => ({ activity: { id, brand_id: 1, user_id: '1001' }, title: 'x' }))
  await behave({ every: 3, answer: { status: 500 } })
  for (const status of [200, 200, 500])
    assert.equal((await post(`${url}/channels/push/batch`, [one, two], 'example-operator-key-1')).status, status)
  await behave({ cut: 'after' })
  await assert.rejects(post(`${url}/channels/push/single`, one, 'example-operator-key-1'))
  await fake.line(/no answer/)
  for (const line of shownLines(/^\S+ {2}push/)) assert.match(fake.out(), line)
})

test('bellwire fake operator refuses a file that does not exist, and an invalid port', async () => {
  const missing = await run(['fake', 'operator', '--port', '0', '--users', 'no-such.csv'])
  assert.equal(missing.code, 2)
  assert.match(missing.err, /no-such\.csv/)
  const port = await run(['fake', 'operator', '--port', 'x'])
  assert.equal(port.code, 2)
  assert.match(port.err, /0 to 65535/)
})

test('bellwire fake platform sends by hand, and prints the lines of the docs for these requests', {
  timeout: 60_000,
}, async (t) => {
  const users = join(await temporary(t), 'users.csv')
  await writeFile(users, 'user_id,blocked,consent_push_notification\n1001,false,true\n1002,true,true\n')
  const key = 'example-operator-key-1'
  const operator = await startFakeOperator({ host: '127.0.0.1', port: 0, apiKey: key, brands: ['1'], users })
  t.after(() => operator.close())
  const fake = start(t, ['fake', 'platform', '--port', '0', '--url', operator.url])
  const url = /platform_url\s+(\S+)/.exec(await fake.line(/platform_url/))?.[1]
  const push = (...ids: string[]) =>
    post(
      `${url}/fake/push`,
      ids.map((user) => ({ user })),
      undefined,
    )
  await push('1001', '1001', '1001')
  await fake.line(/3 successful/)
  await post(`${url}/fake/behaviours`, { cut: 'after', times: 1 }, undefined)
  await push('1001', '1001')
  await fake.line(/no answer/)
  await push('1002')
  const link = {
    user_id: '1001',
    tokens: [{ token: 'f'.repeat(150), channel: 'android', provider: 'firebase' }],
    origin: 'www.example.com',
  }
  const sent = { ...link, timestamp: new Date().toISOString() }
  const linked = await post(`${url}/v1/integration/user/device/link`, sent, 'example-platform-key-1')
  assert.equal(linked.status, 200, linked.text)
  await fake.line(/device\/link/)
  await fake.line(/1 failed/)
  for (const line of shownLines(/^\S+ {2}→ push/)) assert.match(fake.out(), line)
})

test('bellwire fake platform refuses an address that is none, and a file that does not exist', async () => {
  const address = await run(['fake', 'platform', '--port', '0', '--url', 'operator'])
  assert.equal(address.code, 2)
  assert.match(address.err, /--url is not an http or https address/)
  const missing = await run(['fake', 'platform', '--port', '0', '--push', 'no-such.ndjson'])
  assert.equal(missing.code, 2)
  assert.match(missing.err, /no-such\.ndjson/)
})
