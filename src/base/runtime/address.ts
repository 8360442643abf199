// Configured addresses: finds and masks their secrets, and finds addresses that are called without TLS.

const userinfo = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i
const secretParameter = /([?&][^=&#]*(?:pass|key|token|secret|sig|auth)[^=&#]*=)([^&#]*)/gi
/** The replacement for a masked secret. */
export const hidden = '********'

/** The passwords and keys in an address, as written and percent-decoded. Empty when the text is not an address. */
export function secretsInAddress(address: string): readonly string[] {
  const found: string[] = []
  replaceSecrets(address, (secret) => {
    found.push(secret, percentDecode(secret))
    return secret
  })
  return [...new Set(found)]
}

/** @example maskAddress('https://bell:secret@example.com/?apikey=1') // 'https://bell:********@example.com/?apikey=********' */
export function maskAddress(address: string): string {
  return replaceSecrets(address, () => hidden)
}

function replaceSecrets(address: string, replace: (secret: string) => string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) return address
  return address
    .replace(userinfo, (_all, scheme: string, login: string) => {
      const colon = login.indexOf(':')
      // The user name may be a key: https://KEY@host, https://KEY:@host.
      if (colon < 0 || colon === login.length - 1)
        return /^http/i.test(scheme) ? `${scheme}${replace(login)}@` : `${scheme}${login}@`
      return `${scheme}${login.slice(0, colon)}:${replace(login.slice(colon + 1))}@`
    })
    .replace(secretParameter, (all, name: string, value: string) =>
      isTemplate(value) ? all : `${name}${replace(value)}`,
    )
}

/** An empty value, or a placeholder such as {{secret.NAME}}. */
const isTemplate = (value: string): boolean => value === '' || /^\{\{[^{}]*\}\}$/.test(value)

function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * One address for each server of a PostgreSQL address. Any other address is returned alone.
 *
 * @example serverAddresses('postgres://u@a,b:5433/db') // ['postgres://u@a/db', 'postgres://u@b:5433/db']
 */
export function serverAddresses(address: string): readonly string[] {
  const [, head, servers, rest] = /^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)([^/?#]*)(.*)$/is.exec(address) ?? []
  return servers?.split(',').map((server) => `${head}${server}${rest}`) ?? [address]
}

/**
 * The host of an address that is called without TLS that verifies it. Undefined with such TLS, and for this machine.
 *
 * @param address an HTTP, AMQP, SMTP, PostgreSQL or SQLite address, or `host:port`
 * @example clearTextHost('http://db.example.com/') // 'db.example.com'
 * @example clearTextHost('http://127.0.0.1:7001') // undefined
 */
export function clearTextHost(address: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const servers = serverAddresses(address)
  if (servers.length > 1) return servers.map((each) => clearTextHost(each, env)).find((host) => host !== undefined)
  if (/^(https|amqps|smtps|sqlite):/i.test(address)) return undefined
  const host = /^postgres(ql)?:/i.test(address)
    ? postgresHost(new URL(address), env)
    : URL.canParse(address) && /:\/\//.test(address)
      ? new URL(address).hostname
      : address.replace(/:\d+$/, '')
  return host === undefined || isThisMachine(host) ? undefined : host
}

/** The same precedence as the driver: query parameters, then the rest of the address, then libpq's environment variables. */
function postgresHost({ hostname, searchParams }: URL, env: NodeJS.ProcessEnv): string | undefined {
  const wantsTls =
    /^(true|1)$/.test(searchParams.get('ssl') ?? '') ||
    ['sslcert', 'sslkey', 'sslrootcert'].some((name) => searchParams.has(name))
  const mode = searchParams.get('sslmode') ?? (wantsTls ? 'require' : env.PGSSLMODE)
  // With no-verify, anybody on the way may answer as the database.
  if (mode !== undefined && !['disable', 'allow', 'no-verify'].includes(mode)) return undefined
  return searchParams.get('host') || decodeURIComponent(hostname) || env.PGHOST || 'localhost'
}

/** Whether this is a loopback address or the path of a socket. Hosts of a private network are other machines. */
export function isThisMachine(host: string): boolean {
  return /^(\/.*|localhost|\[?::1\]?|127(\.\d{1,3}){3})$/.test(host)
}
