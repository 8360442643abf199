// The revocation of a user's subscriber tokens, in all processes, and after a restart.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { TestContext } from 'node:test'
import { SignJWT } from 'jose'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { op, statement } from '../../src/base/store/statement.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { onEachEngine } from '../support/engines.ts'
import { adminKey, post, startOperator } from '../support/sides.ts'

const secret = 'a-secret-of-at-least-32-characters'
const app = { secrets: [secret], origins: [] }
const tokenOf = (userId: string, aheadMs = 0) =>
  createSubscriberToken({ secret, brand: '1', userId, now: () => Date.now() + aheadMs })

const inbox = async (url: string, token: string) => {
  const answer = await fetch(`${url}/app/inbox`, { headers: { authorization: `Bearer ${token}` } })
  return { status: answer.status, text: await answer.text() }
}

/** `text()` of the answer resolves when the stream has ended. */
async function openStream({ signal }: TestContext, url: string, token: string): Promise<Response> {
  const answer = await fetch(`${url}/app/inbox/stream`, { headers: { authorization: `Bearer ${token}` }, signal })
  assert.equal(answer.status, 200)
  return answer
}

const selectRevoked = statement<{ digest: string; secret: string }>('select_revoked', {})`
  select t.digest, s.secret from revoked_tokens t join person_secrets s on s.brand = t.brand`

onEachEngine(
  'a revocation ends all tokens of one user at once, in all processes and after a restart',
  async (t, store) => {
    const options = { store, app, site: 'inbox' as const }
    const first = await startOperator(t, options)
    // A SQLite file has one process.
    const second = store.startsWith('postgres') ? await startOperator(t, options) : first
    const [mary, bob] = await Promise.all([tokenOf('mary', -2_000), tokenOf('bob', -2_000)])
    const streams = [await openStream(t, first.url, mary), await openStream(t, second.url, mary)]
    assert.equal((await inbox(second.url, mary)).status, 200)

    const { status, body } = await post(
      `${first.url}/admin/subscriber-tokens/revoke`,
      { brand: 1, user_id: 'mary' },
      adminKey.key,
    )
    assert.equal(status, 200, JSON.stringify(body))
    const refused = await inbox(first.url, mary)
    assert.deepEqual([refused.status, /the token was revoked: sign in again/.test(refused.text)], [401, true])
    await Promise.all(streams.map((stream) => stream.text()))
    assert.equal((await inbox(second.url, mary)).status, 401, 'in the other process')
    assert.equal((await inbox(second.url, bob)).status, 200, 'another user')
    assert.equal((await inbox(first.url, await tokenOf('mary', 2_000))).status, 200, 'a later token')
    const withoutTime = await new SignJWT({ brand: '1' })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject('mary')
      .setAudience('bellwire-app')
      .setExpirationTime('10m')
      .sign(Buffer.from(secret))
    assert.equal((await inbox(first.url, withoutTime)).status, 401, 'a token that does not say when it was issued')

    await Promise.all([first.stop(), second.stop()])
    const database = await openDatabase(store, { migrations: operatorMigrations })
    const [row] = await database.read(op(selectRevoked, [[]]))
    await database.close()
    const expected = createHmac('sha256', row?.secret ?? '')
      .update('subscriber mary')
      .digest('base64url')
    assert.equal(row?.digest, expected, 'nobody can guess the user without the secret of the store')
    const restarted = await startOperator(t, options)
    assert.equal((await inbox(restarted.url, mary)).status, 401, 'after a restart')
  },
)
