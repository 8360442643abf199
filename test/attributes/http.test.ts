// An endpoint that misbehaves cannot answer: nothing of it reads as "nobody".

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import type { AttributeSource } from '../../src/attributes/attribute-source.ts'
import { httpSource } from '../../src/attributes/http.ts'
import { listed, soon } from '../suites/attribute-source.ts'

async function source(t: TestContext, answer: (response: ServerResponse) => void): Promise<AttributeSource> {
  const server = createServer((request, response) => {
    request.resume()
    answer(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const made = httpSource({ url: `http://127.0.0.1:${port}/`, fields: ['blocked'] })
  t.after(async () => {
    await made.close?.()
    server.closeAllConnections()
    server.close()
  })
  return made
}

test('a look-up that is not answered with a list for each field is an error', async (t) => {
  for (const [body, expected] of [
    ['{}', /did not answer "blocked"/],
    ['{"blocked":[1001]}', /did not answer "blocked"/],
    ['null', /did not answer "blocked"/],
    ['{"blocked":["10', /not JSON/],
  ] as const) {
    const { among } = await source(t, (response) => response.end(body))
    await assert.rejects(among('1', ['1001'], ['blocked'], soon()), expected)
  }
  const refusing = await source(t, (response) => response.writeHead(500).end())
  await assert.rejects(refusing.among('1', ['1001'], ['blocked'], soon()), /answered 500/)
  const silent = await source(t, () => {})
  await assert.rejects(silent.among('1', ['1001'], ['blocked'], soon(100)), /timeout|aborted/i)
})

test('a list that is cut, miscounted, or not a list is an error', async (t) => {
  const head = '{"timestamp":"2026-01-01T00:00:00Z"}\n'
  for (const [body, expected] of [
    ['"1001"\n{"count":1}\n', /did not begin its list with/],
    [`${head}"1001"\n`, /ended its list without \{"count": …\}: it was cut/],
    [`${head}"1001"\n{"count":2}\n`, /counts 2 users and listed 1/],
    [`${head}1001\n{"count":1}\n`, /neither an id nor/],
    [`${head}"10`, /not JSON/],
  ] as const)
    await assert.rejects(listed(await source(t, (response) => response.end(body)), '1', 'blocked'), expected)
  const dying = await source(t, (response) => response.write(`${head}"1001"\n`, () => response.destroy()))
  await assert.rejects(listed(dying, '1', 'blocked'))
  const whole = await source(t, (response) => response.end(`${head}"1001"\n{"count":1}`))
  assert.deepEqual(await listed(whole, '1', 'blocked'), { users: ['1001'], timestamp: '2026-01-01T00:00:00Z' })
})
