// The checks of Web Push for `bellwire doctor`.

import { createCaller } from '../../../base/http-client/caller.ts'
import { type Check, fails, passes } from '../../../base/runtime/check.ts'
import { clock } from '../../../base/runtime/clock.ts'
import { type GuardedConnectOptions, guardedConnect } from './guarded-connect.ts'
import { type EndpointRules, pushHosts } from './judge-endpoint.ts'
import { judgeKeys, judgeSubject, type Vapid } from './vapid.ts'

const timeoutMs = 5_000
/** Push services accept a VAPID header for at most 24 hours. A clock that is wrong by minutes may later be wrong by hours. */
const mostSkewMs = 5 * 60_000

/** Checks the keys and the subject, that the push services can be reached, and this machine's clock against theirs. */
export async function checkWebPush(
  options: Vapid & EndpointRules & GuardedConnectOptions & { readonly proxy?: string | undefined },
): Promise<readonly Check[]> {
  return [
    ...checkVapid(options),
    ...(await Promise.all(targetsOf(options).map((at) => checkOrigin(at, options)))).flat(),
  ]
}

/** @example checkVapid({ publicKey, privateKey, subject: 'mailto:me@localhost' })[1] // { ok: false, description: '…', remedy: '…' } */
export function checkVapid(vapid: Vapid): readonly Check[] {
  const keys = judgeKeys(vapid)
  const subject = judgeSubject(vapid.subject)
  return [
    keys === undefined
      ? passes('Web Push: the VAPID keys are a valid pair')
      : fails(
          `Web Push: ${keys}`,
          'use the key pair with which the site subscribes, or generate a new one with: bellwire vapid',
        ),
    subject === undefined
      ? passes('Web Push: every push service accepts the VAPID subject')
      : fails(
          `Web Push: ${subject}`,
          'set subject to a real contact address, such as mailto:ops@example.com or https://www.example.com',
        ),
  ]
}

interface Target {
  readonly name: string
  readonly origin: string
  readonly guarded: boolean
}

/** The push services to check. Patterns are left out, except Mozilla's, for which one host is known. */
function targetsOf({ hosts = [], origins = {} }: EndpointRules): readonly Target[] {
  const names = [...pushHosts, ...hosts]
    .map((host) => host.replace('*.push.services.mozilla.com', 'updates.push.services.mozilla.com'))
    .filter((host) => !host.includes('*') && host !== 'jmt17.google.com')
    .map((host) => `https://${host}`)
  return [...new Set([...names, ...Object.keys(origins)])].map((name) => {
    const elsewhere = Object.hasOwn(origins, name) ? origins[name] : undefined
    return { name: new URL(name).host, origin: elsewhere ?? name, guarded: elsewhere === undefined }
  })
}

async function checkOrigin(
  { name, origin, guarded }: Target,
  { proxy, ...guard }: GuardedConnectOptions & { readonly proxy?: string | undefined },
): Promise<readonly Check[]> {
  const connector = guarded ? guardedConnect(guard) : undefined
  const caller = createCaller({ url: origin, connections: 1, proxy, ca: guard.ca, connector })
  const before = clock.now()
  const answer = await caller.call({ method: 'GET', path: '/', most: 64 * 1024, deadline: before + timeoutMs })
  await caller.destroy()
  if ('lost' in answer) {
    const { code, message } = answer.lost
    return [
      fails(
        `Web Push: ${name} cannot be reached (${code ?? message})`,
        `allow connections from this machine to ${name}, port 443; otherwise its browsers get no messages`,
      ),
    ]
  }
  const reached = passes(`Web Push: ${name} can be reached`)
  return [reached, ...checkClock(name, answer.headers.date, before, clock.now())]
}

function checkClock(name: string, date: unknown, before: number, after: number): readonly Check[] {
  const peerTime = typeof date === 'string' ? Date.parse(date) : Number.NaN
  if (Number.isNaN(peerTime)) return []
  // The Date header has no fractions of a second.
  const skew = peerTime > after ? peerTime - after : Math.max(0, before - peerTime - 1_000)
  if (skew <= mostSkewMs) return []
  return [
    fails(
      `Web Push: this machine's clock is ${Math.round(skew / 60_000)} minutes ${peerTime > after ? 'behind' : 'ahead of'} that of ${name}`,
      'synchronize the clock with NTP: signatures have a time',
    ),
  ]
}
