// A push service that accepts requests and never answers. Eight users of brand 1 have browsers there.

import assert from 'node:assert/strict'
import { createECDH, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { listenAt } from '../../../src/base/runtime/local-server.ts'
import type { Attack } from './attacks.ts'
import { activity } from './target.ts'

const endpoint = 'https://push.slow.example'

/** @returns the item of `origins` of web-push that maps the host to this server */
export async function startHangingHost(signal: AbortSignal): Promise<{ from: string; to: string }> {
  const server = createServer(() => {})
  const to = await listenAt(server)
  server.unref()
  signal.addEventListener('abort', () => server.closeAllConnections())
  return { from: endpoint, to }
}

/** Before, a push of the other brand waited for 13 s: the hanging requests had all places of web-push. */
const maxMs = 5_000

export const hangingHost: Attack = {
  name: 'S12 browsers at a push service that never answers',
  expected: 'the browsers of brand 2 get their messages without waiting for it',
  mounted: 'full',
  async prepare({ operator, device, userApp }) {
    const lines = Array.from({ length: 8 }, (_, user) => {
      const tokens = Array.from({ length: 20 }, () => ({ token: subscription(), provider: 'webpush', channel: 'web' }))
      return `${JSON.stringify({ brand: '1', user_id: `slow-${user}`, tokens })}\n`
    })
    const type = { 'content-type': 'application/x-ndjson' }
    const linked = await operator.request('POST', '/admin/devices/link', lines.join(''), type)
    assert.equal(linked.json.linked, 160, linked.text.slice(0, 300))
    const { link } = await device('web-push')
    const app = await userApp('2', 'browser')
    assert.equal((await app.request('POST', '/app/devices/link', { tokens: [link] })).status, 200)
  },
  async run({ operator, keys, push, small }) {
    const records = Array.from({ length: 8 }, (_, i) => activity('1', `slow-${i}`))
    const key = { 'x-api-key': keys['1'] as string }
    const hanging = operator.request('POST', '/channels/push/batch', records, key)
    for (let n = 0; n < 10; n++) {
      const began = performance.now()
      const answer = await push('2', 'browser')
      assert.equal(answer.status, 200, `a push of brand 2 was answered ${answer.status}: ${answer.text}`)
      assert.ok(performance.now() - began < maxMs, `a push of brand 2 took ${Math.round(performance.now() - began)} ms`)
    }
    // The small size does not wait until the hanging sends end.
    if (small) return void hanging.catch(() => {})
    const { status, json } = await hanging
    assert.equal(status, 200)
    assert.equal((json.fatal as readonly unknown[]).length, records.length, 'no message to a hanging host is lost')
  },
}

function subscription(): string {
  const keys = {
    p256dh: createECDH('prime256v1').generateKeys('base64url'),
    auth: randomBytes(16).toString('base64url'),
  }
  return JSON.stringify({ endpoint: `${endpoint}/${randomBytes(12).toString('hex')}`, keys })
}
