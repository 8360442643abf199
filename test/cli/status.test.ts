import assert from 'node:assert/strict'
import test from 'node:test'
import { startCounting } from '../conversions/counting-platform.ts'
import { adminKey, element } from '../support/sides.ts'
import { run } from './bellwire.ts'

test('`bellwire status` prints a table, JSON or CSV, and `bellwire explain` shows each status', async (t) => {
  const { url, enqueue, report: reportAll, groups } = await startCounting(t)
  await enqueue([element({ id: 1 }), element({ id: 2 })])
  await reportAll(['1:1', 'clicked'])
  const bellwire = (...args: string[]) => run(['status', ...args], { BELLWIRE_URL: url, BELLWIRE_KEY: adminKey.key })
  const table = await bellwire('--by', 'action', '--group', '8')
  assert.equal(table.code, 0, table.err)
  assert.match(
    table.out,
    /^LANE +ACTIVITY +ACTION GROUP +ACTION +SENT .*\n1\/push +7 +8 +9 +2 +1 +1 +1 +0\nTotal +2 +1/,
  )
  assert.deepEqual(JSON.parse((await bellwire('--json')).out).groups, await groups())
  assert.equal(
    (await bellwire('--csv')).out,
    'lane,activity,action_group,action,sent,delivered,displayed,clicked,failed\n1/push,7,,,2,1,1,1,0\n',
  )
  assert.match((await bellwire('--activity', '8')).out, /No message matches/)
  const { out } = await run(['explain', '1:1'], { BELLWIRE_URL: url, BELLWIRE_KEY: adminKey.key })
  assert.match(out, /Platform +successful after 1 attempt, clicked as the operator reported/)
  assert.match(out, /^2026-11-25T10:00:00.000Z +platform +reported +clicked .*identifier 1:1$/m)
})

test('`bellwire status list` prints a table, JSON, or CSV with the meta', async (t) => {
  const { url, enqueue, report: reportAll } = await startCounting(t)
  await enqueue([element({ id: 1 }), element({ id: 2 }), element({ id: 3 })])
  await reportAll(['1:1', 'delivered'], ['1:1', 'clicked'], ['1:2', 'delivered'])
  const list = async (...args: string[]): Promise<string> => {
    const { code, out, err } = await run(['status', 'list', ...args], {
      BELLWIRE_URL: url,
      BELLWIRE_KEY: adminKey.key,
    })
    assert.equal(code, 0, err)
    return out
  }
  const table = await list('--stage', 'clicked')
  assert.match(table, /^LANE +IDENTIFIER .*\n1\/push +1:1 +7 +8 +9 +clicked +clicked 2026-11-25T10:00:00Z\n$/)
  const first = JSON.parse(await list('--limit', '1', '--json')) as { conversions: { ref: string }[]; next: string }
  assert.deepEqual(
    first.conversions.map(({ ref }) => ref),
    ['1:1'],
  )
  assert.match(await list('--after', first.next), /1:2/)
  assert.match(await list('--activity', '8'), /No message matches/)
  assert.equal(
    (await list('--csv', '--stage', 'clicked')).split('\n')[1],
    '1/push,1:1,7,8,9,clicked,2026-11-25T10:00:00Z,,2026-11-25T10:00:00Z,,"{""activity"":{""id"":1,""brand_id"":1,""user_id"":""1001""}}"',
  )
})
