import type pg from 'pg'

export interface PostgresConfig extends pg.ClientConfig {
  readonly schema: string | undefined
}

/** Parses postgres://user:password@host/database?schema=name. @throws an error with the remedy, but without the password */
export function configOf(url: string): PostgresConfig {
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
  const urlOptions = parsed.searchParams.get('options')
  // pg verifies the certificate with each of these modes, and warns of them: a later version will not. The name says it.
  const mode = parsed.searchParams.get('sslmode') ?? ''
  if (['prefer', 'require', 'verify-ca'].includes(mode) && !parsed.searchParams.has('uselibpqcompat'))
    parsed.searchParams.set('sslmode', 'verify-full')
  parsed.searchParams.delete('schema')
  parsed.searchParams.delete('options')
  const options = [urlOptions, schema && `-c search_path=${schema}`].filter(Boolean).join(' ')
  return { connectionString: parsed.href, options: options === '' ? undefined : options, schema }
}

/** Replaces the user and password of a URL with `…`. */
export function hidePassword(url: string): string {
  return url.replace(/\/\/.*@/, '//…@')
}

/** host:port/database, for the log. */
export function placeOf({ connectionString = '' }: Pick<PostgresConfig, 'connectionString'>): string {
  const { hostname, port, pathname } = new URL(connectionString)
  return `${hostname}:${port || '5432'}${pathname}`
}
