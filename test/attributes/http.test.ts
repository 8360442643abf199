// Every malformed answer of an endpoint is an error, and is never read as an empty list.

import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import test, { type TestContext } from 'node:test'
import type { AttributeSource } from '../../src/subjects/attributes/attribute-source.ts'
import { httpSource } from '../../src/subjects/attributes/http.ts'
import { readList } from '../suites/attribute-source.ts'
import { contextOf } from '../support/context.ts'
import { listenLocally } from '../support/listen-locally.ts'

async function source(t: TestContext, answer: (response: ServerResponse) => void): Promise<AttributeSource> {
  const server = createServer((request, response) => {
    request.resume()
    answer(response)
  })
  const { url } = await listenLocally(t, server)
  const httpAttributes = httpSource({ url: `${url}/`, fields: ['blocked'] })
  t.after(() => httpAttributes.close?.())
  return httpAttributes
}

test('a look-up fails unless the answer has a list of ids for each field', async (t) => {
  for (const [body, expected] of [
    ['{}', /did not answer "blocked"/],
    ['{"blocked":[1001]}', /did not answer "blocked"/],
    ['null', /did not answer "blocked"/],
    ['{"blocked":["10', /not JSON/],
  ] as const) {
    const { among } = await source(t, (response) => response.end(body))
    await assert.rejects(among('1', ['1001'], ['blocked'], contextOf()), expected)
  }
  const refusing = await source(t, (response) => response.writeHead(500).end())
  await assert.rejects(refusing.among('1', ['1001'], ['blocked'], contextOf()), /answered 500/)
  const silent = await source(t, () => {})
  await assert.rejects(silent.among('1', ['1001'], ['blocked'], contextOf(100)), /in time/)
})

test('the timestamp of an answer is the time of its data; one that cannot be read is an error', async (t) => {
  const noted: number[] = []
  const look = { ...contextOf(), noteAsOf: (at: number) => void noted.push(at) }
  for (const timestamp of [',"timestamp":"2026-01-31T10:00:00Z"', ''])
    await (await source(t, (response) => response.end(`{"blocked":[]${timestamp}}`))).among(
      '1',
      ['1'],
      ['blocked'],
      look,
    )
  assert.deepEqual(noted, [Date.parse('2026-01-31T10:00:00Z')])
  const wrong = await source(t, (response) => response.end('{"blocked":[],"timestamp":"yesterday"}'))
  await assert.rejects(wrong.among('1', ['1'], ['blocked'], look), /a timestamp that is not a time/)
})

test('reading a list fails if it is truncated, has a wrong count or is not a list', async (t) => {
  const head = '{"timestamp":"2026-01-01T00:00:00Z"}\n'
  for (const [body, expected] of [
    ['"1001"\n{"count":1}\n', /did not start its list with/],
    [`${head}"1001"\n`, /ended its list without \{"count": …\}: the list is incomplete/],
    [`${head}"1001"\n{"count":2}\n`, /listed 1 users, but its count is 2/],
    [`${head}1001\n{"count":1}\n`, /neither a user id as a JSON string nor/],
    [`${head}"10`, /not JSON/],
  ] as const)
    await assert.rejects(readList(await source(t, (response) => response.end(body)), '1', 'blocked'), expected)
  const dying = await source(t, (response) => response.write(`${head}"1001"\n`, () => response.destroy()))
  await assert.rejects(readList(dying, '1', 'blocked'))
  const whole = await source(t, (response) => response.end(`${head}"1001"\n{"count":1}`))
  assert.deepEqual(await readList(whole, '1', 'blocked'), { users: ['1001'], timestamp: '2026-01-01T00:00:00Z' })
})
