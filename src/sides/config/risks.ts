// Risky settings: valid, but they make an attack possible. They are refused unless `accept_risks` names the risk.

import { hash } from 'node:crypto'
import { clearTextHost, isThisMachine, secretsInAddress } from '../../base/runtime/address.ts'
import { type ConfiguredValue, leavesOf } from './leaves.ts'
import { type Config, table } from './table.ts'

export interface Risk {
  readonly risk: Config['acceptRisks'][number]
  readonly path: string
  readonly description: string
  readonly remedy: string
}

const replaceKey = 'make another with: openssl rand -hex 24'

/** All risks in the configuration, including the accepted ones. */
export function risksOf(config: Config): readonly Risk[] {
  const leaves = leavesOf(table, config)
  return [
    ...sharedKeys(leaves, config),
    ...exampleKeys(leaves, config),
    ...weakKeys(leaves),
    ...clearText(leaves),
    ...publicAdmin(config),
  ]
}

/** Whether the key is public: the keys of the examples and of `bellwire stand-ins` are published. */
export const isExampleKey = (key: string): boolean => /^(example|stand-ins)-/.test(key)

/** Finds keys with two purposes: a party that gets a key for one purpose must not get access to another. */
function sharedKeys(leaves: readonly ConfiguredValue[], config: Config): readonly Risk[] {
  const secrets = leaves
    .filter(({ leaf }) => leaf.secret || leaf.isKeyDigest)
    .map((each) => ({ ...each, digest: each.leaf.isKeyDigest ? each.value : hash('sha256', String(each.value)) }))
  const isOwn = ({ leaf }: ConfiguredValue) => leaf.ownApiKey || leaf.isKeyDigest
  const role = roles(config)
  return secrets.flatMap((secret, i) => {
    const { path, digest } = secret
    const other = secrets
      .slice(0, i)
      .find((each) => each.digest === digest && (isOwn(secret) || isOwn(each)) && role(each.path) !== role(path))
    if (other === undefined) return []
    const description = `is the same as ${other.path}: the holder of one of the two keys also holds the other`
    return [{ risk: 'shared_keys', path, description, remedy: replaceKey }]
  })
}

/** The purpose of a secret. If one file configures both ends of a connection, both ends name the same key. */
function roles({ platform }: Config): (path: string) => string {
  return (path) => {
    if (/^operator\.keys\b|^platform\.(lanes|reconciliation)\b/.test(path)) return 'sending'
    if (/^operator\.publish\b/.test(path)) return 'linking'
    if (path === 'operator.console.other_side.api_key') return 'platform'
    if (path === 'platform.console.other_side.api_key') return 'operator.admin_keys.key'
    const [, index] = /^platform\.keys\[(\d+)\]/.exec(path) ?? []
    if (index !== undefined) return platform?.keys[Number(index)]?.scopes.includes('devices') ? 'linking' : 'platform'
    return path.replace(/\[\d+\]|_sha256$/g, '')
  }
}

function exampleKeys(leaves: readonly ConfiguredValue[], config: Config): readonly Risk[] {
  return leaves.flatMap(({ path, leaf, value }) => {
    const host = (path.startsWith('operator.') ? config.operator : config.platform)?.host ?? ''
    if (!leaf.ownApiKey || !isExampleKey(String(value)) || isThisMachine(host)) return []
    return [
      {
        risk: 'example_keys',
        path,
        description: `is a published example key, and ${host} is reachable from other machines`,
        remedy: replaceKey,
      },
    ]
  })
}

function weakKeys(leaves: readonly ConfiguredValue[]): readonly Risk[] {
  return leaves
    .filter(({ path, leaf }) => leaf.ownApiKey || isStatusSecret(path))
    .filter(({ value }) => isWeak(String(value).replace(/^(whsec_|Bearer |Basic )/, '')))
    .map(({ path, leaf }) => ({
      risk: 'weak_keys',
      path,
      description: 'is easy to guess: it repeats itself, or counts up',
      remedy: isStatusSecret(path) ? (leaf.remedy ?? replaceKey) : replaceKey,
    }))
}

/** Both sides of an integration agree on the secret of delivery statuses. */
const isStatusSecret = (path: string): boolean =>
  /\.(status\.webhooks\[\d+\]\.to\.secrets|webhook_secrets)\[\d+\]$/.test(path)

/**
 * Whether the key has fewer than six different characters, consists of one repeated part, contains a part of eight characters twice,
 * or mostly counts up or down. Random keys of the recommended form practically never do.
 */
function isWeak(key: string): boolean {
  const steps = [...key].slice(1).filter((each, i) => Math.abs(each.charCodeAt(0) - key.charCodeAt(i)) <= 1)
  return (
    new Set(key).size < 6 ||
    /^(.+)\1+$/.test(key) ||
    /(.{8}).*\1/.test(key) ||
    steps.length > (key.length - 1) * (3 / 4)
  )
}

/** Without `admin`, the port that other machines reach also serves administration and the metrics. */
function publicAdmin({ operator, platform }: Config): readonly Risk[] {
  return Object.entries({ operator, platform }).flatMap(([side, settings]) => {
    if (!settings || settings.admin || isThisMachine(settings.host)) return []
    const port = side === 'operator' ? 7101 : 7102
    return [
      {
        risk: 'admin_on_public_address',
        path: `${side}.host`,
        description: `${settings.host} is reachable from other machines, and also serves /admin, and /metrics without a key`,
        remedy: `add admin: {host: 127.0.0.1, port: ${port}} to ${side}`,
      },
    ]
  })
}

function clearText(leaves: readonly ConfiguredValue[]): readonly Risk[] {
  return leaves.flatMap(({ path, leaf, value }, i) => {
    const host = leaf.outbound ? clearTextHost(String(value)) : undefined
    if (host === undefined) return []
    const siblings = groupAround(leaves, i, path.replace(/(testing\.)?[^.]+$/, ''))
    if (!(leaf.sendsTokens || carriesSecret(String(value), siblings))) return []
    const description = `sends credentials to ${host} without ${isUnverified(String(value)) ? 'verifying its certificate' : 'TLS'}, readable for everyone on the network`
    const remedy = tlsRemedy(String(value))
    // For Kafka brokers, TLS is a separate setting.
    if (remedy === tlsSetting && siblings.some((each) => /\.tls$/.test(each.path) && each.value === true)) return []
    return [{ risk: 'clear_text_to_other_hosts', path, description, remedy }]
  })
}

/** The leaves around the i-th whose paths begin with the group: the leaves of a group follow each other. */
function groupAround(leaves: readonly ConfiguredValue[], i: number, group: string): readonly ConfiguredValue[] {
  const isInside = (n: number): boolean => leaves[n]?.path.startsWith(group) ?? false
  let [first, last] = [i, i]
  while (isInside(first - 1)) first--
  while (isInside(last + 1)) last++
  return leaves.slice(first, last + 1)
}

/** Whether calls to this address carry a secret. PostgreSQL and AMQP always log in. */
function carriesSecret(address: string, siblings: readonly ConfiguredValue[]): boolean {
  return (
    /^(postgres(ql)?|amqp):/i.test(address) ||
    secretsInAddress(address).length > 0 ||
    siblings.some(({ leaf }) => leaf.secret || leaf.secretFile)
  )
}

const isUnverified = (address: string): boolean => /[?&]sslmode=no-verify\b/.test(address)

const tlsSetting = 'write tls: true'

function tlsRemedy(address: string): string {
  if (/^http:/i.test(address)) return 'write https://…'
  if (/^amqp:/i.test(address)) return 'write amqps://…'
  if (/^smtp:/i.test(address)) return 'write smtps://…'
  if (isUnverified(address)) return 'write sslmode=verify-full'
  return /^postgres/i.test(address) ? 'add ?sslmode=verify-full to the address' : tlsSetting
}
