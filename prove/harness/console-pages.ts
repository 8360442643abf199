// How long the pages of a console take. Each look is of another person: no look gets an answer that the process has for another.

import assert from 'node:assert/strict'
import type { AccessKey, Scope } from '../../src/base/http/access.ts'
import { quantile } from './latency.ts'
import { lane, refOf, userOf } from './many-messages.ts'

/** The scopes of each viewer: the pages show the parts that these permit. */
const scopes: readonly Scope[] = ['counts', 'read', 'decide', 'audit', 'people', 'enqueue']
/** Viewers with different further scopes share no answers. */
const further: readonly Scope[] = ['attributes', 'lift', 'devices', 'tokens', 'reload', 'backup']

/** The key of a person who sees each page. */
const viewerKey = (person: number): AccessKey & { readonly key: string } => ({
  name: `viewer ${person}`,
  key: `the-key-of-viewer-${String(person).padStart(4, '0')}`,
  scopes: [...scopes, ...further.filter((_, i) => (person >> i) & 1)],
})
export const viewerKeys = Array.from({ length: 2 ** further.length }, (_, i) => viewerKey(i))

/** The addresses of the pages for one look, by name. @param n of a message */
type PagesOf = (n: number, size: number) => Readonly<Record<string, string>>

const shared: PagesOf = (n, size) => ({
  overview: '',
  lanes: '/lanes',
  'search by user': `/messages?find=${userOf(n, size)}`,
  'search by activity.id': `/messages?find=${n}`,
  'failed actions': '/failed',
  person: `/person?brand=1&user=${userOf(n, size)}`,
  'export of a person': `/person/export?brand=1&user=${userOf(n, size)}`,
  'erase person': `/person/erase?brand=1&user=${userOf(n, size)}`,
  devices: `/devices?brand=1&user=${userOf(n, size)}`,
  'push services': '/push',
  audit: '/audit',
})

export const platformPages: PagesOf = (n, size) => ({
  ...shared(n, size),
  lane: `/lane?name=${lane}`,
  message: `/message?seq=${n}`,
  'failed message': `/message?seq=${Math.ceil(n / 100) * 100}`,
  'failed actions of a lane': `/failed?lane=${lane}&activity=7&reason=rejected`,
  'failed actions by a part of the error': `/failed?lane=${lane}&error=nowhere`,
  'replay of a filter': `/failed/replay?lane=${lane}&activity=7`,
  conversions: '/conversions',
  'list of conversions': '/conversions/messages?activity=7',
  reconciliation: '/reconciliation',
})

/** @param at of fillOperator() */
export const operatorPages =
  (at: number): PagesOf =>
  (n, size) => ({
    ...shared(n, size),
    'search by identifier': `/messages?find=${refOf(n, at)}`,
    message: `/message?ref=${refOf(n, at)}`,
    'failed message': `/message?ref=${refOf(Math.ceil(n / 100) * 100, at)}`,
  })

export async function signIn(url: string, key: string): Promise<string> {
  const { headers } = await fetch(`${url}/console/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url },
    body: new URLSearchParams({ key }),
  })
  return headers.getSetCookie()[0]?.split(';')[0] ?? ''
}

interface Looks {
  readonly size: number
  readonly rounds: number
  readonly print: (line: string) => void
}

/** The page with the longest p95, in milliseconds. */
export interface Slowest {
  readonly name: string
  readonly p95: number
}

export async function measurePages(url: string, pagesOf: PagesOf, { size, rounds, print }: Looks): Promise<Slowest> {
  const cookies = await Promise.all(viewerKeys.map(({ key }) => signIn(url, key)))
  let slowest: Slowest = { name: '', p95: 0 }
  for (const name of Object.keys(pagesOf(1, size))) {
    const times: number[] = []
    const cpu = process.cpuUsage()
    for (let round = 0; round < rounds; round++) {
      // The messages are spread over the whole store, so each look reads other rows.
      const path = pagesOf(((round * 7_368_787) % size) + 1, size)[name] ?? ''
      const began = performance.now()
      const response = await fetch(`${url}/console${path}`, {
        headers: { cookie: cookies[round % cookies.length] as string },
      })
      const text = await response.text()
      times.push(performance.now() - began)
      assert.equal(response.status, 200, `${name}: ${/role="alert">(.*?)</.exec(text)?.[1] ?? text}`)
      assert.ok(!response.redirected, `${name} was not shown`)
    }
    const { user, system } = process.cpuUsage(cpu)
    const [p50, p95] = [quantile(times, 0.5), quantile(times, 0.95)]
    const cpuMs = (user + system) / 1_000 / rounds
    print(`${name}: p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms; ${cpuMs.toFixed(1)} ms of CPU`)
    if (p95 > slowest.p95) slowest = { name, p95 }
  }
  return slowest
}
