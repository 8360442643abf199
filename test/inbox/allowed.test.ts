// The inbox checks whether its user may see notifications (docs/contributing/decisions.md): for each list, new stream, streamed notification, and ping.

import assert from 'node:assert/strict'
import { onSqlite } from '../support/engines.ts'
import { event } from '../support/wait.ts'
import { deliver, follow, isReady, list, message, openStore, openStream, serveInbox, token } from './open-inbox.ts'

onSqlite('when a user is excluded, their open stream sends no further notification and ends', async (t, store) => {
  const database = await openStore(t, store)
  const excluded = new Set<string>()
  const allowed = async (brand: string, userId: string): Promise<boolean> => !excluded.has(`${brand}/${userId}`)
  const inbox = await serveInbox(t, database, { allowed })
  const bearer = await token('1', '1001')
  const [mine, theirs] = await Promise.all([follow(inbox, bearer), follow(inbox, await token('2', '1001'))])
  await Promise.all([mine.until(isReady), theirs.until(isReady)])
  const before = message('1', '1001')
  await deliver(database, [before])
  await mine.until(({ refs }) => refs.length === 1)

  excluded.add('1/1001')
  const closed = event('inbox.closed', ({ brand }) => brand === '1')
  const other = message('2', '1001')
  await deliver(database, [message('1', '1001'), other])
  await mine.ended
  assert.equal((await closed).why, 'refused')
  assert.deepEqual(mine.refs, [before.ref])
  await theirs.until(({ refs }) => refs.length === 1)
  assert.deepEqual(theirs.refs, [other.ref], 'the same id of another brand is another user')
  assert.equal((await list(inbox, bearer)).status, 403)
  assert.equal((await follow(inbox, bearer)).response.statusCode, 403)
})

onSqlite('the open stream of an excluded user ends, also without a further notification', async (t, store) => {
  const database = await openStore(t, store)
  const excluded = new Set<string>()
  const allowed = async (brand: string, userId: string): Promise<boolean> => !excluded.has(`${brand}/${userId}`)
  const inbox = await serveInbox(t, database, { allowed, pingMs: 100 })
  const bearer = await token('1', '1001')
  const mine = await Promise.all([follow(inbox, bearer), follow(inbox, bearer)])
  const theirs = await follow(inbox, await token('2', '1001'))
  await Promise.all([...mine, theirs].map((stream) => stream.until(isReady)))
  excluded.add('1/1001')
  await Promise.all(mine.map(({ ended }) => ended))
  const after = message('2', '1001')
  await deliver(database, [after])
  await theirs.until(({ refs }) => refs.length === 1)
})

onSqlite('while the check fails, a stream sends nothing; afterwards it sends what it missed', async (t, store) => {
  const database = await openStore(t, store)
  let away = false
  let checks = 0
  const allowed = async (): Promise<boolean> => {
    checks++
    if (away) throw new Error('the source is away')
    return true
  }
  const inbox = await serveInbox(t, database, { allowed, pingMs: 100 })
  const bearer = await token('1', '1001')
  const stream = await openStream(inbox, bearer)
  away = true
  checks = 0
  const waiting = message('1', '1001')
  await deliver(database, [waiting])
  await stream.until(() => checks >= 2)
  assert.deepEqual(stream.refs, [])
  assert.equal((await list(inbox, bearer)).status, 503)
  away = false
  await stream.until(({ refs }) => refs.length === 1)
  assert.deepEqual(stream.refs, [waiting.ref])
})
