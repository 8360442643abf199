// Keys, lanes, certificates and credentials of a platform are replaced while requests arrive.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { listenAt } from '../../../src/base/runtime/local-server.ts'
import { makeCertificate } from '../../../src/tools/stand-ins/certificate.ts'
import { freePort } from '../../../test/support/free-port.ts'
import { type Answer, createCaller, createLoad, office, type Size, startSide, tickMs } from './side.ts'

interface Key {
  readonly key: string
  readonly expires_at?: string
}

export async function reloadPlatform({ rounds, perSecond, folder }: Size, signal: AbortSignal) {
  const port = await freePort()
  const config = join(folder, 'bellwire.json')
  const operator = await startOperator()
  const credentialOf = (round: number): string => `the-credential-of-round-${round}`
  let certificate = makeCertificate()
  const write = async (round: number, accepted: readonly Key[]): Promise<void> => {
    const to = { provider: 'operator-api', url: operator.url, api_key: credentialOf(round) }
    // In every second round there is another lane, each time with another limit.
    const other = round % 2 === 0 ? [] : [{ brand: 2, channel: 'push', span: '5ms', max: 100 + round, to }]
    await writeFile(join(folder, 'cert.pem'), certificate.cert)
    await writeFile(join(folder, 'key.pem'), certificate.key)
    await writeFile(
      config,
      JSON.stringify({
        log: { level: round % 2 === 0 ? 'error' : 'warn' },
        platform: {
          store: 'sqlite:platform.db',
          port,
          tls: { certificate: 'cert.pem', key: 'key.pem' },
          lanes: [
            { brand: 1, channel: 'push', to },
            { brand: 3, channel: 'push', to: { ...to, api_key: 'the-credential-that-stays' } },
            ...other,
          ],
          keys: [
            { name: 'office', key: office, scopes: ['reload'] },
            ...accepted.map((each, i) => ({ name: `key-${i}`, scopes: ['enqueue'], ...each })),
          ],
        },
      }),
    )
  }
  // The certificates change, so the clients do not check them. The proof compares the certificate itself.
  const agent = new Agent({ keepAlive: true, maxSockets: 32, rejectUnauthorized: false })
  const call = createCaller(port, agent, signal)
  let enqueued = 0
  const send = async (key: string): Promise<Answer> => {
    const id = ++sent
    const body = `{"activity":{"id":${id},"brand_id":${id % 2 === 0 ? 1 : 3},"user_id":"${id % 100}","activity_id":7,"action_id":9,"trigger_hash":"h"},"title":"Hello","body":"There"}`
    const answer = await call('/admin/activities/push', key, body)
    if (answer.status === 200) enqueued++
    return answer
  }
  let sent = 0
  const accept = async (round: number, accepted: readonly Key[]): Promise<void> => {
    await write(round, accepted)
    assert.equal((await call('/admin/reload', office, '{}')).status, 200)
  }
  const keyOf = (round: number): string => `the-key-of-round-${round}`

  await write(0, [{ key: keyOf(0) }])
  const platform = startSide('platform', config)
  const load = createLoad(send, perSecond)
  try {
    while ((await send(keyOf(0)).catch(() => undefined))?.status !== 200) {
      signal.throwIfAborted()
      assert.equal(platform.child.exitCode, null, 'the platform runs')
      await sleep(50)
    }
    load.start(keyOf(0))
    const figures = { revoked: 0, expired: 0 }
    for (let round = 1; round <= rounds; round++) {
      signal.throwIfAborted()
      const [old, next, passing] = [keyOf(round - 1), keyOf(round), `the-passing-key-${round}`]
      const expiresAt = Date.now() + 700
      const expiring = { key: passing, expires_at: new Date(expiresAt).toISOString() }
      certificate = makeCertificate()
      await accept(round, [{ key: old }, { key: next }, expiring])
      assert.equal(await readCertificate(port), certificate.cert.replaceAll(/-----.*-----|\s/g, ''), 'a new connection')
      await load.change(next)
      assert.equal((await send(next)).status, 200)
      await accept(round, [{ key: next }, expiring])
      figures.revoked += await demandRefused(old)
      while (Date.now() <= expiresAt || !operator.credentials.has(credentialOf(round))) {
        signal.throwIfAborted()
        await sleep(tickMs)
      }
      figures.expired += await demandRefused(passing)
    }
    const { requests, failed } = await load.stop()
    assert.deepEqual(failed.slice(0, 10), [], `${failed.length} requests with a good key failed`)
    while (operator.ids.length < enqueued) {
      signal.throwIfAborted()
      await sleep(tickMs)
    }
    assert.equal(new Set(operator.ids).size, enqueued, 'each message was delivered')
    assert.equal(operator.ids.length, enqueued, 'no message was sent twice')
    return { requests, reloads: 2 * rounds, messages: enqueued, ...figures }
  } finally {
    await load.stop()
    await platform.kill()
    agent.destroy()
    operator.close()
  }

  async function demandRefused(key: string): Promise<number> {
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(key)))
    // 503: the address has sent many wrong keys.
    const passed = answers.filter(({ status }) => status !== 401 && status !== 503)
    assert.deepEqual(passed, [], `${key} is refused`)
    return answers.length
  }
}

/** An operator that accepts every message, and notes its id and the credential. */
async function startOperator() {
  const ids: number[] = []
  const credentials = new Set<unknown>()
  const server = createServer(async (incoming, response) => {
    const elements = (await json(incoming)) as { readonly activity: { readonly id: number } }[]
    credentials.add(incoming.headers['x-api-key'])
    ids.push(...elements.map(({ activity }) => activity.id))
    const successful = elements.map(({ activity: { id } }) => ({ id, push_id: `p${id}` }))
    response.end(JSON.stringify({ successful, failed: [], fatal: [] }))
  })
  const url = await listenAt(server)
  return { url, ids, credentials, close: () => void server.close().closeAllConnections() }
}

/** The certificate that a new connection gets, in Base64. */
async function readCertificate(port: number): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { raw } = socket.getPeerCertificate()
  socket.destroy()
  return raw.toString('base64')
}
