import type pg from 'pg'
import { serverAddresses } from '../runtime/address.ts'

export interface PostgresConfig extends pg.ClientConfig {
  readonly schema: string | undefined
  /** The addresses of all servers, of which one accepts writes. The `connectionString` is the first one. */
  readonly servers: readonly string[]
}

/**
 * Parses postgres://user:password@host/database?schema=name, or with several servers, host:5432,other:5432.
 *
 * @throws an error with the remedy, but without the password
 */
export function configOf(url: string): PostgresConfig {
  const [first, ...others] = serverAddresses(url).map(configOfServer) as [PostgresConfig, ...PostgresConfig[]]
  return { ...first, servers: [first, ...others].map(({ connectionString = '' }) => connectionString) }
}

function configOfServer(url: string): PostgresConfig {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    throw new Error(
      `${JSON.stringify(hidePassword(url))} is not a valid URL: write postgres://user:password@host/database, with special characters percent-encoded (@ as %40)`,
    )
  }
  const schema = parsed.searchParams.get('schema') ?? undefined
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new Error(
      `The schema ${JSON.stringify(schema)} must have at most 63 characters: lowercase letters, digits and _, beginning with a letter or _`,
    )
  }
  const options = parsed.searchParams.get('options') ?? undefined
  // pg verifies the certificate with each of these modes, and warns of them: a later version will not. The name says it.
  const mode = parsed.searchParams.get('sslmode') ?? ''
  if (['prefer', 'require', 'verify-ca'].includes(mode) && !parsed.searchParams.has('uselibpqcompat'))
    parsed.searchParams.set('sslmode', 'verify-full')
  const role = parsed.searchParams.get('target_session_attrs') ?? 'read-write'
  if (!['read-write', 'primary'].includes(role))
    throw new Error(`target_session_attrs=${role}: Bellwire writes, so leave it out or write read-write`)
  parsed.searchParams.delete('target_session_attrs')
  parsed.searchParams.delete('schema')
  parsed.searchParams.delete('options')
  return {
    connectionString: parsed.href,
    options,
    schema,
    servers: [parsed.href],
  }
}

/** The schema as a startup parameter: for sessions of the operator's database, which a pooler may share with other clients. */
export function withStartupSchema({ schema, ...config }: PostgresConfig): Omit<PostgresConfig, 'schema'> {
  const options = [config.options, schema && `-c search_path=${schema}`].filter(Boolean).join(' ')
  return { ...config, options: options === '' ? undefined : options }
}

/** Replaces the user and password of a URL with `…`. */
export function hidePassword(url: string): string {
  return url.replace(/\/\/.*@/, '//…@')
}

/** host:port/database, for the log. */
export function placeOf({ servers }: Pick<PostgresConfig, 'servers'>): string {
  const urls = servers.map((each) => new URL(each))
  return `${urls.map(({ hostname, port }) => `${hostname}:${port || '5432'}`).join(',')}${urls[0]?.pathname}`
}
