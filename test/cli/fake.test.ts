import assert from 'node:assert/strict'
import test from 'node:test'
import { post } from '../support/sides.ts'
import { run, start } from './bellwire.ts'

test('bellwire fake operator prints its address, and a line for each request with the behaviour that changed the answer', async (t) => {
  const fake = start(t, ['fake', 'operator', '--port', '0'])
  const url = /base_url\s+(\S+)/.exec(await fake.line(/base_url/))?.[1]
  await post(`${url}/fake/behaviours`, { every: 2, answer: { status: 500 } }, undefined)
  const body = [{ activity: { id: 1, brand_id: 1, user_id: '1001' }, title: 'x' }]
  for (const status of [200, 500])
    assert.equal((await post(`${url}/channels/push/batch`, body, 'example-operator-key-1')).status, status)
  await fake.line(/push\/batch {6}1 message {7}200$/)
  await fake.line(/push\/batch {6}1 message {7}500 {8}\{"every":2,"answer":\{"status":500\}\}$/)
})

test('bellwire fake operator refuses a file that does not exist, and an invalid port', async (t) => {
  const missing = await run(t, ['fake', 'operator', '--port', '0', '--users', 'no-such.csv'])
  assert.equal(missing.code, 2)
  assert.match(missing.err, /no-such\.csv/)
  const port = await run(t, ['fake', 'operator', '--port', 'x'])
  assert.equal(port.code, 2)
  assert.match(port.err, /0 to 65535/)
})

test('bellwire fake platform sends by hand, and prints a line for each request with the outcomes', async (t) => {
  const operator = start(t, ['fake', 'operator', '--port', '0'])
  const operatorUrl = /base_url\s+(\S+)/.exec(await operator.line(/base_url/))?.[1] as string
  const fake = start(t, ['fake', 'platform', '--port', '0', '--url', operatorUrl])
  const url = /platform_url\s+(\S+)/.exec(await fake.line(/platform_url/))?.[1]
  await post(`${operatorUrl}/fake/behaviours`, { user: '1002', outcome: 'failed' }, undefined)
  await post(`${url}/fake/push`, [{ user: '1001' }, { user: '1002' }], undefined)
  await fake.line(/→ push\/batch +2 messages +200 +1 successful, 1 failed$/)
  await fake.line(/user 1002 {2}failed: forced by a behaviour/)
})

test('bellwire fake platform refuses an address that is none, and a file that does not exist', async (t) => {
  const address = await run(t, ['fake', 'platform', '--port', '0', '--url', 'operator'])
  assert.equal(address.code, 2)
  assert.match(address.err, /--url is not an http or https address/)
  const missing = await run(t, ['fake', 'platform', '--port', '0', '--push', 'no-such.ndjson'])
  assert.equal(missing.code, 2)
  assert.match(missing.err, /no-such\.ndjson/)
})
