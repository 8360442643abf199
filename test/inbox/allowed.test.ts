// The inbox asks, too, whether its user may be shown anything (design §5.3): list, opening, and each notification on an open stream.

import assert from 'node:assert/strict'
import { onEachEngine } from '../support/engines.ts'
import { event } from '../support/wait.ts'
import { deliver, follow, isReady, list, message, openStore, serveInbox, token } from './open-inbox.ts'

onEachEngine('who was excluded while a stream is open is shown nothing more on it, and it ends', async (t, store) => {
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
  assert.deepEqual(theirs.refs, [other.ref], 'the same id of another brand is somebody else')
  assert.equal((await list(inbox, bearer)).status, 403)
  assert.equal((await follow(inbox, bearer)).response.statusCode, 403)
})

onEachEngine('while nobody can tell, an open stream shows nothing; then it shows what it lacks', async (t, store) => {
  const database = await openStore(t, store)
  let away = false
  let asked = 0
  const allowed = async (): Promise<boolean> => {
    asked++
    if (away) throw new Error('the source is away')
    return true
  }
  const inbox = await serveInbox(t, database, { allowed, beatMs: 100 })
  const bearer = await token('1', '1001')
  const stream = await follow(inbox, bearer)
  await stream.until(isReady)
  away = true
  asked = 0
  const waiting = message('1', '1001')
  await deliver(database, [waiting])
  await stream.until(() => asked >= 2)
  assert.deepEqual(stream.refs, [])
  assert.equal((await list(inbox, bearer)).status, 503)
  away = false
  await stream.until(({ refs }) => refs.length === 1)
  assert.deepEqual(stream.refs, [waiting.ref])
})
