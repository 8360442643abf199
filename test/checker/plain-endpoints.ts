// The endpoints that the plain platform hosts: links of devices and delivery statuses. It imports nothing of src, like the rest of the
// plain platform. Mutants change its rules.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export const linkKey = 'key-for-links-of-devices'
const secret = Buffer.alloc(32, 1)
export const statusSecret = `whsec_${secret.toString('base64')}`

/** true: the platform does this correctly. */
export interface EndpointRules {
  checksKeyOf: readonly string[]
  requiresKey: boolean
  storesLinks: boolean
  appliesUnlinks: boolean
  comparesTimes: boolean
  movesDevices: boolean
  unlinksOwnDevices: boolean
  ignoresHeaders: boolean
  goesOnAfterUnreadable: boolean
  acceptsRepeatedLinks: boolean
  linkStatus: number
  unreadableLinkStatus: number
  unreadableUnlinkStatus: number
  statusStatus: number
  acceptsArrays: boolean
  acceptsRepeatedCalls: boolean
  acceptsEarlierStatuses: boolean
  acceptsUnknownIdentifiers: boolean
  checksSignature: boolean
  requiresSignature: boolean
  comparesVersion: boolean
  comparesWholeSignature: boolean
  checksAge: boolean
  unreadableStatusStatus: number
  mostBytes: number
}

export const correctEndpoints: EndpointRules = {
  checksKeyOf: ['link', 'unlink'],
  requiresKey: true,
  storesLinks: true,
  appliesUnlinks: true,
  comparesTimes: true,
  movesDevices: true,
  unlinksOwnDevices: true,
  ignoresHeaders: true,
  goesOnAfterUnreadable: true,
  acceptsRepeatedLinks: true,
  linkStatus: 200,
  unreadableLinkStatus: 400,
  unreadableUnlinkStatus: 400,
  statusStatus: 200,
  acceptsArrays: true,
  acceptsRepeatedCalls: true,
  acceptsEarlierStatuses: true,
  acceptsUnknownIdentifiers: true,
  checksSignature: true,
  requiresSignature: true,
  comparesVersion: true,
  comparesWholeSignature: true,
  checksAge: true,
  unreadableStatusStatus: 400,
  mostBytes: 4 * 1024 * 1024,
}

interface Link {
  linkedAt: number
  unlinkedAt: number
}

const order = ['accepted', 'sent', 'delivered', 'displayed', 'opened', 'dismissed', 'archived', 'clicked']

export interface PlainEndpoints {
  readonly url: string
  /** Takes an event of a broker. @returns the status that the same event would have over REST */
  takeLink(what: string, text: string): number
  /** The tokens of a user, one in each line. */
  devices(userId: string): string
  stop(): void
}

/** @param knows whether an identifier was in an answer of the operator */
export async function startEndpoints(rules: EndpointRules, knows: (ref: string) => boolean): Promise<PlainEndpoints> {
  const users = new Map<string, Map<string, Link>>()
  const seenLinks = new Set<string>()
  const seenCalls = new Set<string>()
  const highest = new Map<string, number>()
  let stopped = false

  function takeLink(what: string, text: string): number {
    const record = parse(text)
    if (!Array.isArray(record?.tokens)) {
      if (!rules.goesOnAfterUnreadable) stopped = true
      return what === 'link' ? rules.unreadableLinkStatus : rules.unreadableUnlinkStatus
    }
    if (stopped) return rules.linkStatus
    if (seenLinks.has(what + text) && !rules.acceptsRepeatedLinks) return 409
    seenLinks.add(what + text)
    const devices = users.get(record.user_id) ?? new Map<string, Link>()
    if (rules.storesLinks) users.set(record.user_id, devices)
    for (const { token } of record.tokens) {
      const link = devices.get(token) ?? { linkedAt: 0, unlinkedAt: 0 }
      devices.set(token, link)
      const at = rules.comparesTimes ? Date.parse(record.timestamp) : performance.now()
      if (what === 'link') link.linkedAt = Math.max(link.linkedAt, at)
      else if (rules.appliesUnlinks) link.unlinkedAt = Math.max(link.unlinkedAt, at)
      if (what === 'unlink' && !rules.unlinksOwnDevices)
        for (const others of users.values()) if (others.has(token)) others.set(token, link)
    }
    return rules.linkStatus
  }

  function takeStatuses(headers: IncomingMessage['headers'], text: string): number {
    const { 'webhook-id': id = '', 'webhook-timestamp': at = '', 'webhook-signature': signatures = '' } = headers
    const expected = createHmac('sha256', secret).update(`${id}.${at}.${text}`).digest()
    const isSigned = String(signatures)
      .split(' ')
      .filter((each) => each.startsWith('v1,') || !rules.comparesVersion)
      .map((each) => Buffer.from(each.slice(3), 'base64'))
      .some((each) =>
        rules.comparesWholeSignature
          ? each.length === expected.length && timingSafeEqual(each, expected)
          : each.length > 0 && each.equals(expected.subarray(0, each.length)),
      )
    const isExcused = id !== '' && signatures === '' && !rules.requiresSignature
    if (rules.checksSignature && !isSigned && !isExcused) return 401
    if (rules.checksAge && Math.abs(Date.now() / 1_000 - Number(at)) > 300) return 401
    if (seenCalls.has(String(id)) && !rules.acceptsRepeatedCalls) return 409
    seenCalls.add(String(id))
    const body = parse(text)
    if (Array.isArray(body) && !rules.acceptsArrays) return 400
    for (const { push_id, site_notification_id: site, status } of Array.isArray(body) ? body : [body]) {
      const ref = push_id ?? site
      const place = order.indexOf(status)
      if (place < 0) return rules.unreadableStatusStatus
      if (!knows(ref) && !rules.acceptsUnknownIdentifiers) return 404
      if (place < (highest.get(ref) ?? 0) && !rules.acceptsEarlierStatuses) return 409
      highest.set(ref, Math.max(place, highest.get(ref) ?? 0))
    }
    return rules.statusStatus
  }

  const hasKey = ({ headers: { 'x-api-key': given } }: IncomingMessage): boolean =>
    given === linkKey || (given === undefined && !rules.requiresKey)

  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const text = Buffer.concat(pieces).toString()
    const [, what] = /^\/v1\/integration\/user\/device\/(link|unlink)$/.exec(request.url ?? '') ?? []
    if (text.length > rules.mostBytes) response.statusCode = 413
    else if (what === undefined) response.statusCode = takeStatuses(request.headers, text)
    else if (rules.checksKeyOf.includes(what) && !hasKey(request)) response.statusCode = 401
    else response.statusCode = takeLink(what, text)
    response.end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takeLink,
    devices: (userId) =>
      [...(users.get(userId) ?? [])]
        .filter(([token, { linkedAt, unlinkedAt }]) => {
          const isLatest = [...users.values()].every((of) => (of.get(token)?.linkedAt ?? 0) <= linkedAt)
          return linkedAt > unlinkedAt && (isLatest || !rules.movesDevices)
        })
        .map(([token]) => token)
        .join('\n'),
    stop: () => void server.close(),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: any JSON
function parse(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
