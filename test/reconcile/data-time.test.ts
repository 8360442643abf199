import assert from 'node:assert/strict'
import test from 'node:test'
import { checkDataTime } from '../../src/subjects/reconcile/data-time.ts'
import { run } from '../cli/bellwire.ts'
import { onSqlite } from '../support/engines.ts'
import { listOf, startListOperator } from '../support/list-operator.ts'
import { adminKey } from '../support/sides.ts'
import { importLines, startReconciling } from './platform.ts'

const now = Date.parse('2026-11-26T08:00:00Z')

test('the time of a list is at most a minute ahead and at most seven days old', () => {
  for (const at of ['2026-11-26T08:01:00Z', '2026-11-26T07:00:00Z', '2026-11-19T08:00:00Z'])
    checkDataTime(Date.parse(at), now)
  for (const [at, why] of [
    ['2026-11-26T08:01:01Z', /2026-11-26T08:01:01\.000Z is in the future: it is 2026-11-26T08:00:00\.000Z here/],
    ['2026-11-26T10:00:00Z', /is in the future/],
    ['2026-11-19T07:59:59Z', /is more than 7 days old/],
    ['0001-01-01T00:00:00Z', /is more than 7 days old/],
  ] as const)
    assert.throws(() => checkDataTime(Date.parse(at), now), why)
})

onSqlite(
  'a list from the future or from years ago is refused, and the command exits with an error',
  async (t, store) => {
    let at = new Date()
    const operator = await startListOperator(t, (response) => void response.end(listOf([], at)))
    const { url } = await startReconciling(t, store, operator.url)
    await importLines(url, '1', [{ user_id: 'fresh', blocked: true }])
    const reconcile = () =>
      run(t, ['reconcile', '--brand', '1', '--field', 'blocked', '--url', url], { BELLWIRE_KEY: adminKey.key })
    for (const [hours, why] of [
      [2, /in the future/],
      [-24 * 365 * 6, /more than 7 days old/],
    ] as const) {
      at = new Date(Date.now() + hours * 3_600_000)
      const { code, out, err } = await reconcile()
      assert.notEqual(code, 0, out)
      assert.match(out + err, why)
    }
  },
)
