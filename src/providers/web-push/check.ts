// What `bellwire doctor` shows of Web Push.

import { Pool } from 'undici'
import type { Check } from '../provider.ts'
import { type GuardOptions, guardedConnect } from './guarded-connect.ts'
import { type EndpointRules, pushHosts } from './judge-endpoint.ts'
import { judgeKeys, judgeSubject, judgeSubjectForApple, type Vapid } from './vapid.ts'

const patienceMs = 5_000
/** Push services take a VAPID header for at most 24 hours; a clock that is off by minutes is a sign of one that will be off by hours. */
const mostSkewMs = 5 * 60_000

/** Looks at keys and subject, and asks the push services whether they are there and what time it is. */
export async function checkWebPush(options: Vapid & EndpointRules & GuardOptions): Promise<readonly Check[]> {
  return [
    ...checkVapid(options),
    ...(await Promise.all(reachable(options).map((at) => checkOrigin(at, options)))).flat(),
  ]
}

/** @example checkVapid({ publicKey, privateKey, subject: 'mailto:me@localhost' })[1] // { ok: false, what: '…', remedy: '…' } */
export function checkVapid(vapid: Vapid): readonly Check[] {
  const keys = judgeKeys(vapid)
  const subject = judgeSubject(vapid.subject)
  const apple = subject === undefined ? judgeSubjectForApple(vapid.subject) : undefined
  return [
    keys === undefined
      ? { ok: true, what: 'Web Push: the VAPID keys are a pair' }
      : {
          ok: false,
          what: `Web Push: ${keys}`,
          remedy: 'take both from the pair that the site subscribes with, or make a new one with: bellwire vapid',
        },
    subject === undefined && apple === undefined
      ? { ok: true, what: 'Web Push: every push service takes the VAPID subject' }
      : {
          ok: false,
          what: `Web Push: ${subject ?? `${apple}, which Apple refuses (403 BadJwtToken)`}`,
          remedy: 'write a real address of yours, as mailto:ops@example.com or https://www.example.com',
        },
  ]
}

interface Reach {
  readonly name: string
  readonly origin: string
  readonly guarded: boolean
}

/** Names that can be asked; a pattern cannot, but for Mozilla's the first name is known. */
function reachable({ hosts = [], origins = {} }: EndpointRules): readonly Reach[] {
  const names = [...pushHosts, ...hosts]
    .map((host) => host.replace('*.push.services.mozilla.com', 'updates.push.services.mozilla.com'))
    .filter((host) => !host.includes('*') && host !== 'jmt17.google.com')
    .map((host) => `https://${host}`)
  return [...new Set([...names, ...Object.keys(origins)])].map((name) => {
    const elsewhere = Object.hasOwn(origins, name) ? origins[name] : undefined
    return { name: new URL(name).host, origin: elsewhere ?? name, guarded: elsewhere === undefined }
  })
}

async function checkOrigin({ name, origin, guarded }: Reach, guard: GuardOptions): Promise<readonly Check[]> {
  const pool = new Pool(origin, guarded ? { connect: guardedConnect(guard) } : {})
  try {
    const before = Date.now()
    const { body, headers } = await pool.request({ method: 'GET', path: '/', signal: AbortSignal.timeout(patienceMs) })
    await body.dump()
    const reached = { ok: true, what: `Web Push: ${name} can be reached` }
    return [reached, ...checkClock(name, headers.date, before, Date.now())]
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    return [
      {
        ok: false,
        what: `Web Push: ${name} cannot be reached (${code ?? message})`,
        remedy: `let this machine connect to ${name}, port 443; without it its browsers get nothing`,
      },
    ]
  } finally {
    await pool.destroy().catch(() => {})
  }
}

function checkClock(name: string, date: unknown, before: number, after: number): readonly Check[] {
  const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN
  if (Number.isNaN(theirs)) return []
  // Their time has no fractions of a second.
  const skew = theirs > after ? theirs - after : Math.max(0, before - theirs - 1_000)
  if (skew <= mostSkewMs) return []
  return [
    {
      ok: false,
      what: `Web Push: this clock is ${Math.round(skew / 60_000)} minutes ${theirs > after ? 'behind' : 'ahead of'} that of ${name}`,
      remedy: 'set the clock by NTP: what we sign is dated',
    },
  ]
}
