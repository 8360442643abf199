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
    assert.equal((await post(`${url}/channels/push/batch`, body, 'fake-operator-key')).status, status)
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
