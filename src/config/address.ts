// Configured addresses: the secrets in them, and whether a connection is encrypted.

const userinfo = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i
const secretParameter = /([?&][^=&#]*(?:pass|key|token|secret|sig|auth)[^=&#]*=)([^&#]*)/gi
/** Stands where a secret stood. */
export const hidden = '********'

/** The passwords and keys in an address, as written and decoded. Empty for a text that is not an address. */
export function secretsInAddress(address: string): readonly string[] {
  const found: string[] = []
  replaceSecrets(address, (secret) => {
    found.push(secret, decoded(secret))
    return secret
  })
  return [...new Set(found)]
}

/** @example maskAddress('https://bell:secret@example.com/?apikey=1') // 'https://bell:********@example.com/?apikey=********' */
export function maskAddress(address: string): string {
  return replaceSecrets(address, () => hidden)
}

function replaceSecrets(address: string, by: (secret: string) => string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) return address
  return address
    .replace(userinfo, (_all, scheme: string, who: string) => {
      const colon = who.indexOf(':')
      // A key may stand in the place of the user: https://KEY@host, https://KEY:@host.
      if (colon < 0 || colon === who.length - 1)
        return /^http/i.test(scheme) ? `${scheme}${by(who)}@` : `${scheme}${who}@`
      return `${scheme}${who.slice(0, colon)}:${by(who.slice(colon + 1))}@`
    })
    .replace(secretParameter, (all, name: string, value: string) => (isTemplate(value) ? all : `${name}${by(value)}`))
}

/** Nothing at all, or a placeholder: {{secret.NAME}}. */
const isTemplate = (value: string): boolean => value === '' || /^\{\{[^{}]*\}\}$/.test(value)

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * The host to which this address is called without TLS, where that is not this machine.
 *
 * @param address of HTTP, AMQP, PostgreSQL or SQLite, or `host:port`
 * @example clearTextHost('http://db.example.com/') // 'db.example.com'
 * @example clearTextHost('http://127.0.0.1:7001') // undefined
 */
export function clearTextHost(address: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (/^(https|amqps|sqlite):/i.test(address)) return undefined
  const host = /^postgres(ql)?:/i.test(address)
    ? postgresHost(new URL(address), env)
    : URL.canParse(address) && /:\/\//.test(address)
      ? new URL(address).hostname
      : address.replace(/:\d+$/, '')
  return host === undefined || isThisMachine(host) ? undefined : host
}

/** As the driver reads it: parameters before the address itself, then the variables of libpq. */
function postgresHost({ hostname, searchParams }: URL, env: NodeJS.ProcessEnv): string | undefined {
  const asked =
    /^(true|1|no-verify)$/.test(searchParams.get('ssl') ?? '') ||
    ['sslcert', 'sslkey', 'sslrootcert'].some((name) => searchParams.has(name))
  const mode = searchParams.get('sslmode') ?? (asked ? 'require' : env.PGSSLMODE)
  if (mode !== undefined && mode !== 'disable' && mode !== 'allow') return undefined
  return searchParams.get('host') || decodeURIComponent(hostname) || env.PGHOST || 'localhost'
}

/** A loopback address, or the path of a socket. Names of a private network are other machines. */
export function isThisMachine(host: string): boolean {
  return /^(\/.*|localhost|\[?::1\]?|127(\.\d{1,3}){3})$/.test(host)
}
