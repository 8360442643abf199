// bellwire failed: a person works through Failed Actions of a running platform.

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { listenLocally } from '../support/listen-locally.ts'
import { adminKey, element, enqueueAt, get, startPlatform, temporary, untilSettled, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { run } from './bellwire.ts'

const ofBrand1 = {
  name: 'anna',
  key: 'the-key-of-anna-00001',
  scopes: ['counts', 'read', 'decide', 'attributes'],
  brands: ['1'],
} as const

/** A platform whose operator refuses everyone but the user `fine`. */
async function start(t: TestContext) {
  const refused = witness(({ userId, ref }) =>
    userId === 'fine'
      ? { category: 'successful', ref, rule: 'accepted' }
      : {
          category: 'failed',
          reason: userId.startsWith('blocked') ? 'suppressed' : 'rejected',
          error: userId === 'hostile' ? 'red \u001b[31m and \u009b2J' : `no user ${userId}`,
          rule: '§7.1 422',
          status: 422,
        },
  )
  const { url } = await startPlatform(t, {
    keys: [adminKey, ofBrand1],
    lanes: [{ brand: '1', channel: 'push', mode: 'batch', provider: refused, spanMs: 5 }],
  })
  const bellwire = (args: readonly string[], key: string = adminKey.key) =>
    run(['failed', ...args], { BELLWIRE_URL: url, BELLWIRE_KEY: key })
  return {
    url,
    bellwire,
    async send(records: readonly object[]) {
      await enqueueAt(url, records)
      await untilSettled(url)
    },
  }
}

test('the summary is a table by activity, action and reason, and the list and one item are readable', async (t) => {
  const { bellwire, send } = await start(t)
  assert.deepEqual(await bellwire([]), { code: 0, out: 'No Failed Actions.\n', err: '' })
  await send([
    ...Array.from({ length: 12 }, (_, i) => element({ user_id: `u${i}` })),
    element({ user_id: 'blocked' }),
    element({ user_id: 'hostile', activity_id: 10, action_id: 1 }),
  ])
  const summary = await bellwire([])
  assert.equal(summary.code, 0, summary.err)
  assert.equal(
    summary.out,
    [
      'LANE    ACTIVITY  ACTION  REASON      PENDING  DISMISSED  REPLAYED',
      '1/push  7         9       rejected         12          0         0',
      '                          suppressed        1          0         0',
      '        10        1       rejected          1          0         0',
      'Total                                      14          0         0',
      '',
    ].join('\n'),
  )
  assert.equal(JSON.parse((await bellwire(['--json', '--activity', '10'])).out).groups.length, 1)

  const list = await bellwire(['list', '--reason', 'rejected', '--limit', '2'])
  assert.match(
    list.out,
    /^SEQ +FAILED AT +LANE +USER +ACTIVITY +ACTION +REASON +STATE +ERROR\n1 +\d{4}-\S+Z +1\/push +u0 /,
  )
  assert.match(list.out, /There are more: add --after 2\n$/)
  const second = await bellwire(['list', '--reason', 'rejected', '--limit', '2', '--after', '2', '--json'])
  assert.deepEqual(
    JSON.parse(second.out).map(({ seq }: { seq: number }) => seq),
    [3, 4],
  )
  assert.equal((await bellwire(['list', '--from', '2h', '--until', '1h'])).out, 'No item matches.\n')
  assert.match((await bellwire(['list', '--from', '1h', '--seq', '1,2'])).out, /\n2 /)

  const hostile = await bellwire(['show', '14'])
  assert.match(hostile.out, /^Message +14 in lane 1\/push\nState +pending\n/)
  assert.match(
    hostile.out,
    /attempt 1: failed, rejected, HTTP status 422 \(§7\.1 422\)\n +error: red \\u001b\[31m and \\u009b2J\n/,
  )
  for (const { out } of [hostile, await bellwire(['list', '--user', 'hostile'])])
    assert.ok(!out.includes('\u001b') && !out.includes('\u009b'))
})

test('replay and dismiss count first, ask for --yes, and name who decided', async (t) => {
  const { bellwire, send, url } = await start(t)
  await send(['a', 'b', 'blocked 1', 'blocked 2'].map((user_id) => element({ user_id })))
  const states = async () => (await get(`${url}/admin/failed`)).body.items.map((item: { state: string }) => item.state)

  const preview = await bellwire(['replay', '--reason', 'suppressed', '--preview'])
  assert.equal(preview.code, 0, preview.err)
  assert.match(preview.out, /^LANE .*\n1\/push +7 +9 +suppressed +2 +0 +0\nTotal +2 +0 +0\n$/)
  const unconfirmed = await bellwire(['dismiss', '--reason', 'suppressed'])
  assert.equal(unconfirmed.code, 2)
  assert.match(
    unconfirmed.err,
    /Dismiss 2 items\? Give --yes to confirm, or --preview to only count: nothing was changed/,
  )
  assert.deepEqual(await states(), ['pending', 'pending', 'pending', 'pending'])

  const dismissed = await bellwire(['dismiss', '--reason', 'suppressed', '--lane', '1/push', '--yes'], ofBrand1.key)
  assert.equal(dismissed.code, 0, dismissed.err)
  assert.match(dismissed.out, /Dismissed 2 items\.\n$/)
  assert.match((await bellwire(['show', '3'])).out, /State +dismissed \(decided by anna at \d{4}-/)
  const replayed = await bellwire(['replay', '--seq', '1,3', '--per-second', '100', '--yes', '--json'])
  assert.deepEqual(JSON.parse(replayed.out), {
    matching: 1,
    groups: [{ lane: '1/push', activity: '7', action: '9', reason: 'rejected', pending: 1, dismissed: 0, replayed: 0 }],
    changed: 1,
  })
  await until(async () => (await get(`${url}/admin/failed/1`)).body.state === 'pending', { awaited: 'it fails again' })
  assert.match(
    (await bellwire(['show', '1'])).out,
    /replayed once\n[\s\S]*attempt 1: failed[\s\S]*replayed by admin\n[\s\S]*attempt 1: failed/,
  )
  assert.equal((await bellwire(['replay', '--user', 'nobody', '--yes'])).out, 'No item matches.\n')
  assert.match((await bellwire(['dismiss', '--all', '--yes'])).out, /Dismissed 2 items\.\n$/)
})

test('a mistake is an error that names the remedy', async (t) => {
  const { bellwire, send } = await start(t)
  await send([element({ user_id: 'a' })])
  for (const [args, message, key] of [
    [['replay', '--yes'], /give either a filter, such as --activity or --seq, or --all/],
    [['replay', '--all', '--user', 'a'], /give either a filter/],
    [['show', '99'], /there is no failed item 99: GET \/admin\/failed lists them/],
    [['show', 'x'], /Give a whole number of 0 or more/],
    [['list', '--from', 'soon'], /Give a time, such as 2026-01-31T10:00:00Z, or how long ago: 2h/],
    [['list', '--seq', '1;2'], /Give numbers of messages, separated by commas, such as 17,18/],
    [['list', '--state', 'open'], /pending, dismissed, replayed/],
    [['list'], /the key anna is bound to brands: name one of its lanes in the filter/, ofBrand1.key],
    [['export', '--out', '/none/failed.csv'], /--out cannot be written: ENOENT/],
    [['replay', '--user', 'a', '--per-second', '0'], /Give a whole number from 1 to 1000000/],
  ] as const) {
    const { code, err } = await bellwire(args, key)
    assert.equal(code, 2, `${args.join(' ')}: ${err}`)
    assert.match(err, message)
  }
})

test('export writes all matching items as CSV to standard output or a file', async (t) => {
  const { bellwire, send } = await start(t)
  await send(Array.from({ length: 1_200 }, (_, i) => element({ user_id: i % 2 ? '=cmd' : 'u' })))
  const { code, out, err } = await bellwire(['export'])
  assert.equal(code, 0, err)
  assert.equal(out.split('\n').length, 1_202)
  const folder = await temporary(t)
  const file = join(folder, 'failed.csv')
  assert.equal((await bellwire(['export', '--user', '=cmd', '--out', file])).code, 0)
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  assert.equal(lines.length, 601)
  assert.match(lines[1] as string, /,'=cmd,/)
  assert.deepEqual(await readdir(folder), ['failed.csv'])
})

test('an export that breaks off is an error, and leaves no incomplete file', async (t) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' })
    response.write('seq,lane\n1,1/push\n')
    setImmediate(() => response.destroy())
  })
  const { url } = await listenLocally(t, server)
  const folder = await temporary(t)
  const { code, err } = await run(['failed', 'export', '--out', join(folder, 'failed.csv')], {
    BELLWIRE_URL: url,
    BELLWIRE_KEY: adminKey.key,
  })
  assert.equal(code, 3, err)
  assert.match(err, /the answer broke off after 18 bytes .*: repeat the command/)
  assert.deepEqual(await readdir(folder), [])
})
