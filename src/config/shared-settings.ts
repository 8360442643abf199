// Settings that several parts of the table have in common.

import { brand, duration, integer, key, oneOf, path, size, text, url } from './kinds.ts'
import { group, list } from './setting.ts'

export const makeOne = 'make one with: openssl rand -hex 24'

export const moduleOf = (what: string, exported: string) => ({
  module: path({ says: `A file of yours that exports ${what}.` }),
  name: text({ says: 'The name of its export.', default: exported }),
})

export const listening = (port: string, adminPort: string) => ({
  host: text({ says: 'The address to listen on; 0.0.0.0 for all.', default: '127.0.0.1' }),
  port: integer(0, 65_535)({ says: 'The port to listen on; 0 takes a free one.', default: port }),
  public_url: url({
    says: 'Where the other party reaches this side, for the examples of /docs. Left out: host and port.',
    optional: true,
  }),
  admin: group(
    {
      says: 'An address of their own for /admin, /metrics, /docs, /openapi.json and /asyncapi.json.',
      optional: true,
    },
    {
      host: text({
        says: 'The address for /admin, /metrics, /docs, /openapi.json and /asyncapi.json. Without `admin` they are served on the port above.',
        default: '127.0.0.1',
      }),
      port: integer(0, 65_535)({ says: 'The port for them; 0 takes a free one.', default: adminPort }),
    },
  ),
  connections: integer(
    1,
    1_000_000,
  )({
    says: 'The most connections at a time; more are closed at once. Keep it below the limit of open files (ulimit -n).',
    default: '20000',
  }),
  stop_within: duration({ says: 'How long a stop may take before the process ends regardless.', default: '20s' }),
})

export const requestBodies = {
  bodies: size({
    says: 'The most bytes of request bodies in memory at a time; more requests are answered 503 with Retry-After. Raise it if honest callers meet that.',
    default: '256MiB',
  }),
  body_timeout: duration({
    says: 'How long a request body may take to arrive; for NDJSON and CSV, how long it may pause. Later, it is answered 408.',
    default: '30s',
  }),
}

export const accessKeys = (what: string) =>
  list(
    group(
      { says: 'One key.' },
      {
        name: text({ says: 'Whose key it is.' }),
        key: key({ says: 'The key, sent as X-Api-Key.', secret: true, remedy: makeOne }),
        scopes: list(oneOf('enqueue', 'read', 'manage', 'devices', 'tokens')({ says: 'Permission of the key.' }), {
          says: 'Permissions: enqueue, read, manage, devices (link and unlink), tokens (create subscriber tokens).',
          least: 1,
          remedy: 'write scopes: [read], or a list of enqueue, read, manage, devices and tokens',
        }),
        brands: list(brand({ says: 'A brand.' }), {
          says: 'The brands that it may see; left out: all.',
          optional: true,
          least: 1,
        }),
      },
    ),
    { says: what },
  )
