import assert from 'node:assert/strict'
import test from 'node:test'
import { startLog } from '../../src/runtime/log.ts'
import { adminKey, element, get, keys, post, startOperator } from '../support/sides.ts'

test('guessed keys are limited and logged in one line; callers with a valid key are not affected', async (t) => {
  const lines: string[] = []
  const log = startLog({ level: 'info', format: 'json', to: { write: (line) => lines.push(line) } })
  t.after(() => log.stop())
  const { url } = await startOperator(t)
  const single = `${url}/channels/push/single`
  assert.equal((await post(single, element(), keys.one.key)).status, 200)
  const guesses = await Promise.all(Array.from({ length: 500 }, (_, i) => post(single, element(), `guess-${i}`)))
  const of = (status: number): number => guesses.filter((answer) => answer.status === status).length
  assert.equal(of(401) + of(503), 500)
  assert.ok(of(401) >= 100 && of(503) >= 100, `${of(401)} keys were checked`)
  const refused = guesses.find(({ status }) => status === 503)
  assert.equal(refused?.headers.get('retry-after'), '1')
  assert.match(refused?.body.error, /too many wrong API keys/)
  assert.equal((await post(single, element(), keys.one.key)).status, 200)
  assert.equal((await get(`${url}/admin/summary`, adminKey.key)).status, 200)
  const about = lines.filter((line) => line.includes('keys.refused'))
  assert.equal(about.length, 1)
  assert.match(about[0] as string, /"address":"127\.0\.0\.1","count":1/)
  assert.equal(lines.filter((line) => line.includes('guess-') || line.includes('request.refused')).length, 0)
})
