// Settings that several parts of the table share.

import { allScopes } from '../../base/http/access.ts'
import {
  baseUrl,
  brand,
  duration,
  integer,
  key,
  keyDigest,
  network,
  oneOf,
  path,
  size,
  store,
  text,
  time,
} from '../../base/runtime/kinds.ts'
import { group, list, rows, type Setting, type Settings } from '../../base/runtime/setting.ts'

export const moduleOf = (exported: string) => ({
  module: path({ help: 'Your own file, JavaScript or TypeScript.', section: 'Your own modules' }),
  name: text({ help: 'The name of the export.', default: exported, section: 'Your own modules' }),
})

/** A list that may be left out, but not be empty. */
export const someOf = <Of extends Setting>(of: Of, help: string) => list(of, { help, optional: true, minItems: 1 })

/** A key that another party has issued, unless it accepts calls without one. */
export const issuedKey = (help: string) => text({ help, secret: true, optional: true })

/** operator.suppression and platform.own.suppression. */
export const suppressionRules = {
  fields: someOf(
    oneOf(['blocked', 'excluded', 'active', 'consent_push_notification', 'consent_site_notification'], {
      help: 'A field.',
    }),
    'The fields that suppress messages; blocked and excluded always do, a consent for its channel. Default: all but active.',
  ),
  exempt: group('', {
    activities: list(text({ help: 'An activity_id.' }), {
      help: 'The activities (activity_id) of service messages.',
    }),
    trigger_hashes: list(text({ help: 'A trigger_hash.' }), { help: 'The trigger hashes of service messages.' }),
  }),
  module: path({
    help: 'Your own rule, JavaScript or TypeScript: a function that returns the reason why a message must not be sent, or undefined.',
    optional: true,
  }),
  name: text({ help: 'The name of the export of that module.', default: 'rule' }),
}

export const listening = (port: string, adminPort: string) => ({
  host: text({ help: 'The address to listen on; 0.0.0.0 is all addresses.', default: '127.0.0.1' }),
  port: integer(0, 65_535, { help: 'The port to listen on; 0 chooses a free port.', default: port }),
  tls: group(
    '',
    {
      certificate: path({
        help: 'Serves HTTPS on host and port: a PEM file with the certificate and its chain, which a reload reads again. The address of `admin` stays HTTP.',
        readWithConfig: true,
      }),
      key: path({
        help: 'A PEM file with the key of that certificate, without a passphrase.',
        readWithConfig: true,
        secretFile: true,
      }),
    },
    { optional: true },
  ),
  public_url: baseUrl({
    help: 'The public address of this side, for the examples of /docs. Default: host and port.',
    optional: true,
  }),
  admin: group(
    '',
    {
      host: text({
        help: 'The address for /admin, /console, /metrics and /docs. Without `admin`, the main port serves them, and /console only on a loopback address.',
        default: '127.0.0.1',
      }),
      port: integer(0, 65_535, { help: 'The port of that address; 0 chooses a free port.', default: adminPort }),
    },
    { optional: true },
  ),
  connections: integer(1, 1_000_000, {
    help: 'The most open connections; further ones are closed. Keep it below the limit of open files (ulimit -n).',
    default: '20000',
  }),
  connections_per_address: integer(1, 1_000_000, {
    help: 'The most open connections of one address (IPv6: one /64), besides trusted proxies.',
    default: '1000',
  }),
  trusted_proxies: list(network({ help: 'An address or a network.' }), {
    help: 'The proxies in front of this side. From them, X-Forwarded-For names the client, for limits and logs.',
  }),
  stop_within: duration({ help: 'Grace period of a stop; after it the process exits.', default: '20s' }),
})

export const requestBodies = {
  bodies: size({
    section: 'Request bodies',
    help: 'The most memory for request bodies; further requests are answered 503 with Retry-After.',
    default: '256MiB',
    option: 'bodyBytesInFlight',
  }),
}

/** How long the rows of a side are kept. */
export const retention = (help: { readonly keep: string; readonly contents: string }) => ({
  keep: duration({ section: 'Store', help: help.keep, default: '90d', option: 'keptMs' }),
  keep_contents: duration({ section: 'Store', help: help.contents, default: '14d', option: 'contentsKeptMs' }),
  keep_audit: duration({
    section: 'Store',
    help: 'How long the audit trail is kept. Ask your regulator.',
    default: '730d',
    option: 'auditKeptMs',
  }),
})

/** Settings for a stand-in of a push service. */
export const testing = <Of extends Settings>(settings: Of) => group('', settings)

/** The rate and the concurrency of a push service. @param concurrency the default */
export const sendLimits = (concurrency: string) => ({
  per_second: integer(1, 1_000_000, {
    section: 'Every push service',
    help: 'The most sends in a second, in each operator process. Default: no limit until the service refuses a send.',
    optional: true,
  }),
  concurrency: integer(1, 10_000, {
    section: 'Every push service',
    help: 'The most concurrent sends; with web-push to one vendor, with apns to one environment.',
    default: concurrency,
  }),
})

/** The bounds of the backoff between attempts. */
export const backoff = {
  first: duration({
    help: 'The upper bound of the first backoff; it doubles with each attempt (full jitter).',
    default: '1s',
  }),
  most: duration({ help: 'The longest backoff.', default: '5min' }),
}

/** A key that callers present. */
export const acceptedKey = (help: string) => ({
  name: text({ help: 'The name of the key, for logs.' }),
  key: key({ help, optional: true }),
  key_sha256: keyDigest({
    help: 'The SHA-256 of the key, in place of the key. Only for random keys, as `bellwire keys new` makes them.',
    optional: true,
  }),
  expires_at: time({
    help: 'The key is refused from this time. The log warns 14 days before. Default: never.',
    optional: true,
  }),
  from: someOf(
    network({ help: 'An address or a network.' }),
    'The addresses and networks from which the key is accepted. Default: all.',
  ),
})

export const accessKeys = (help: string) =>
  list(
    group('Keys for administration', {
      ...acceptedKey('The key, sent as X-Api-Key.'),
      scopes: list(oneOf(allScopes, { help: 'A scope.' }), {
        help: 'The scopes of the key, of which none includes another.',
        minItems: 1,
        remedy: `write scopes: ['counts'], or the scopes that it needs: ${allScopes.join(', ')}`,
      }),
      brands: someOf(brand({ help: 'A brand.' }), 'The brands that the key may access. Default: all.'),
    }),
    { help, section: 'Keys for administration' },
  )

export const stores = rows(
  'Further databases, each with a part of the brands.',
  {
    number: integer(1, 99, {
      help: 'The number of the store, which is never changed: the numbers of its messages begin with it.',
    }),
    url: store({ help: 'The address of the database: postgres://USER:PASSWORD@HOST/DATABASE.' }),
    brands: list(brand({ help: 'A brand.' }), {
      help: 'The brands that live in this database; all others live in `store`. Empty: for a database to which brands will be moved.',
    }),
  },
  { section: 'Several databases' },
)
