import type pg from 'pg'

export interface PostgresConfig extends pg.ClientConfig {
  readonly schema: string | undefined
}

/** Reads postgres://user:password@host/database?schema=name. @throws an error that names the remedy, without the password */
export function configOf(url: string): PostgresConfig {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    throw new Error(
      `${JSON.stringify(hidePassword(url))} cannot be read: write postgres://user:password@host/database, special characters as %40`,
    )
  }
  const schema = parsed.searchParams.get('schema') ?? undefined
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new Error(
      `The schema ${JSON.stringify(schema)} must be of small letters, digits and _, and at most 63 of them`,
    )
  }
  const given = parsed.searchParams.get('options')
  parsed.searchParams.delete('schema')
  parsed.searchParams.delete('options')
  const options = [given, schema && `-c search_path=${schema}`].filter(Boolean).join(' ')
  return { connectionString: parsed.href, options: options === '' ? undefined : options, schema }
}

/** Without the password. */
export function hidePassword(url: string): string {
  return url.replace(/\/\/.*@/, '//…@')
}
