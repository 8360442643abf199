// Checks the endpoints of subscriptions. An endpoint is user input and the target of requests, so it must be a push service.

import { isIP } from 'node:net'
import { readSubscription } from './subscription.ts'

/** The push services of the browsers. `*.` stands for one or more labels. */
export const pushHosts: readonly string[] = [
  'fcm.googleapis.com', // Chrome, Edge on Android, Opera, Samsung
  'jmt17.google.com', // Chromium as distributions build it
  '*.push.services.mozilla.com',
  'web.push.apple.com',
  '*.notify.windows.com', // Edge on Windows
]

export interface EndpointRules {
  /** Hosts of further push services: 'push.example.com', '*.push.example.com', with a port if it is not 443. */
  readonly hosts?: readonly string[]
  /**
   * Replacement origins of endpoints, for stand-ins and tests: {'https://fcm.googleapis.com': 'http://127.0.0.1:7010'}. All other
   * endpoints must have public addresses.
   */
  readonly origins?: Readonly<Record<string, string>>
}

/**
 * Decides whether messages may be sent to the endpoint of a subscription. Call it when a device is linked. Before each send the
 * endpoint is checked again, and the addresses of its name are checked too (guarded-connect.ts).
 *
 * @param subscription the device's token: the PushSubscription as JSON text
 * @returns undefined if the endpoint is allowed, else the reason, without secrets
 * @example judgeEndpoint('{"endpoint":"http://169.254.169.254/latest/meta-data/",…}', {}) // 'its endpoint is not https …'
 */
export function judgeEndpoint(subscription: string, rules: EndpointRules): string | undefined {
  const read = readSubscription(subscription)
  return 'error' in read ? read.error : judgeUrl(read.url, rules)
}

export function judgeUrl(url: URL, { hosts = [], origins = {} }: EndpointRules): string | undefined {
  if (url.username !== '' || url.password !== '') return 'its endpoint contains a user name or password'
  if (Object.hasOwn(origins, url.origin)) return undefined
  if (url.protocol !== 'https:') return 'its endpoint is not https'
  // The URL parser has converted 2130706433, 0x7f.1 and 0177.0.0.1 to 127.0.0.1.
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return 'its endpoint has an IP address instead of a host name'
  if ([...pushHosts, ...hosts].some((pattern) => fits(url, pattern))) return undefined
  const host = url.host.length > 80 ? `${url.host.slice(0, 80)}…` : url.host
  return `its endpoint is at ${host}, which is not a known push service; if it is one, add it to hosts`
}

function fits({ hostname, port }: URL, pattern: string): boolean {
  const [name = '', patternPort = ''] = pattern.toLowerCase().split(':')
  // The URL parser removes port 443; a pattern may have it.
  if (port !== (patternPort === '443' ? '' : patternPort)) return false
  return name.startsWith('*.') ? hostname.endsWith(name.slice(1)) : hostname === name
}

/**
 * Describes the faults of the rules. An origin must have no path, and a host must be a name.
 *
 * @example judgeRules({ hosts: ['https://push.example.com'] }) // ['hosts: https://push.example.com is not a host …']
 */
export function judgeRules({ hosts = [], origins = {} }: EndpointRules): readonly string[] {
  return [
    ...hosts
      .filter((host) => !/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+(:\d{1,5})?$/i.test(host))
      .map(
        (host) => `hosts: ${host} is not a host; write push.example.com, *.push.example.com or push.example.com:8443`,
      ),
    ...Object.entries(origins)
      .flat()
      .filter((origin) => !isOrigin(origin))
      .map(
        (origin) => `origins: ${origin} is not an origin; write https://fcm.googleapis.com or http://127.0.0.1:7010`,
      ),
  ]
}

const isOrigin = (text: string): boolean =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text
