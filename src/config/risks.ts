// Configurations that work and are insecure. Each is refused unless `accept_risks` names it.

import { clearTextHost, isThisMachine, secretsInAddress } from './address.ts'
import { type Found, leavesOf } from './leaves.ts'
import { type Config, table } from './table.ts'

export interface Risk {
  readonly risk: Config['accept_risks'][number]
  readonly path: string
  readonly what: string
  readonly remedy: string
}

const another = 'make another with: openssl rand -hex 24'

/** Every risk in the configuration, also those that it accepts. */
export function risksOf(config: Config): readonly Risk[] {
  const leaves = leavesOf(table, config)
  return [...sharedKeys(leaves, config), ...exampleKeys(leaves, config), ...weakKeys(leaves), ...clearText(leaves)]
}

/** The keys of the examples, and of the files that `bellwire stand-ins` writes, are public. */
export const isExampleKey = (key: string): boolean => /^(example|stand-ins)-/.test(key)

/** A key for one purpose must not open another. */
function sharedKeys(leaves: readonly Found[], config: Config): readonly Risk[] {
  const secrets = leaves.filter(({ leaf }) => leaf.secret)
  const role = roles(config)
  return secrets.flatMap(({ path, leaf, value }, i) => {
    const other = secrets
      .slice(0, i)
      .find((each) => each.value === value && (leaf.opensUs || each.leaf.opensUs) && role(each.path) !== role(path))
    if (other === undefined) return []
    const what = `is the same as ${other.path}: a holder of one of them has the other, too`
    return [{ risk: 'shared_keys', path, what, remedy: another }]
  })
}

/** The purpose of a secret. Both sides of a connection name the same key when one file configures both sides. */
function roles({ platform }: Config): (path: string) => string {
  return (path) => {
    if (/^operator\.keys\b|^platform\.(lanes|reconciliation)\b/.test(path)) return 'sending'
    if (/^operator\.publish\b/.test(path)) return 'linking'
    const [, index] = /^platform\.keys\[(\d+)\]/.exec(path) ?? []
    if (index !== undefined) return platform?.keys[Number(index)]?.scopes.includes('devices') ? 'linking' : 'platform'
    return path.replace(/\[\d+\]/g, '')
  }
}

function exampleKeys(leaves: readonly Found[], config: Config): readonly Risk[] {
  return leaves.flatMap(({ path, leaf, value }) => {
    const host = (path.startsWith('operator.') ? config.operator : config.platform)?.host ?? ''
    if (!leaf.opensUs || !isExampleKey(String(value)) || isThisMachine(host)) return []
    return [
      {
        risk: 'example_keys',
        path,
        what: `is a published example, and ${host} can be reached from other machines`,
        remedy: another,
      },
    ]
  })
}

function weakKeys(leaves: readonly Found[]): readonly Risk[] {
  return leaves
    .filter(({ leaf, value }) => leaf.opensUs && isWeak(String(value)))
    .map(({ path }) => ({
      risk: 'weak_keys',
      path,
      what: 'can be guessed, since it repeats a short pattern',
      remedy: another,
    }))
}

/** Fewer than six different characters, or one part again and again. */
function isWeak(key: string): boolean {
  return new Set(key).size < 6 || /^(.+)\1+$/.test(key)
}

function clearText(leaves: readonly Found[]): readonly Risk[] {
  return leaves.flatMap(({ path, leaf, value }) => {
    const host = leaf.called ? clearTextHost(String(value)) : undefined
    const beside = leaves.filter((each) => each.path.startsWith(path.replace(/[^.]+$/, '')))
    if (host === undefined || !carriesSecret(String(value), beside)) return []
    const what = `sends credentials to ${host} without TLS: any machine on the way can read them`
    const remedy = tlsOf(String(value))
    // Kafka's brokers have their encryption in a setting of its own.
    if (remedy === tlsSetting && beside.some((each) => /\.tls$/.test(each.path) && each.value === true)) return []
    return [{ risk: 'clear_text_to_other_hosts', path, what, remedy }]
  })
}

/** PostgreSQL and AMQP always log in. */
function carriesSecret(address: string, beside: readonly Found[]): boolean {
  return (
    /^(postgres(ql)?|amqp):/i.test(address) ||
    secretsInAddress(address).length > 0 ||
    beside.some(({ leaf }) => leaf.secret || leaf.secretFile)
  )
}

const tlsSetting = 'write tls: true'

function tlsOf(address: string): string {
  if (/^http:/i.test(address)) return 'write https://…'
  if (/^amqp:/i.test(address)) return 'write amqps://…'
  return /^postgres/i.test(address) ? 'add ?sslmode=verify-full to the address' : tlsSetting
}
