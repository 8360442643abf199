// Endpoints of subscriptions are user input: whoever links one tells us where to send requests. So only to push services.

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
  /** Hosts of further push services: 'push.example.com', '*.push.example.com', with a port where it is not 443. */
  readonly hosts?: readonly string[]
  /**
   * Origins of endpoints that are served elsewhere, for stand-ins and tests: {'https://fcm.googleapis.com': 'http://127.0.0.1:7010'}.
   * Nothing else leads to an address inside this machine or its network.
   */
  readonly origins?: Readonly<Record<string, string>>
}

/**
 * May we send to this subscription's endpoint? For the moment when it is linked; when it is sent to it is judged again, and its
 * name is looked up under guard (guarded-connect.ts).
 *
 * @param subscription the device's token: the PushSubscription as JSON text
 * @returns undefined where we may; else why not, without anything secret
 * @example judgeEndpoint('{"endpoint":"http://169.254.169.254/latest/meta-data/",…}', {}) // 'its endpoint is not https …'
 */
export function judgeEndpoint(subscription: string, rules: EndpointRules): string | undefined {
  const read = readSubscription(subscription)
  return 'error' in read ? read.error : judgeUrl(read.url, rules)
}

export function judgeUrl(url: URL, { hosts = [], origins = {} }: EndpointRules): string | undefined {
  if (url.username !== '' || url.password !== '') return 'its endpoint carries a user name or password'
  if (Object.hasOwn(origins, url.origin)) return undefined
  if (url.protocol !== 'https:') return 'its endpoint is not https'
  // The parser has made 127.0.0.1 of 2130706433, 0x7f.1 and 0177.0.0.1.
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return 'its endpoint is an address of numbers, not a name'
  if ([...pushHosts, ...hosts].some((pattern) => fits(url, pattern))) return undefined
  const host = url.host.length > 80 ? `${url.host.slice(0, 80)}…` : url.host
  return `its endpoint is at ${host}, which is not a push service that is known here; if it is one, add it to hosts`
}

function fits({ hostname, port }: URL, pattern: string): boolean {
  const [name = '', itsPort = ''] = pattern.toLowerCase().split(':')
  // The parser leaves 443 out, as a person may not.
  if (port !== (itsPort === '443' ? '' : itsPort)) return false
  return name.startsWith('*.') ? hostname.endsWith(name.slice(1)) : hostname === name
}

/**
 * What is wrong with the rules themselves, as sentences. Origins have no path, and hosts are names.
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
