// Settings that contradict each other, in the configuration file and in the options of the library, which have the same names.

import { type AcceptedKey, digestOf } from '../../base/http/accepted-keys.ts'
import type { Fault } from '../../base/runtime/problem.ts'

/** @param path 'operator.keys', or 'keys' in the library */
export function keyFaults(path: string, keys: readonly AcceptedKey[]): Fault[] {
  const digests = keys.map((key) => (key.key || key.keySha256 ? digestOf(key) : undefined))
  const repeated = (values: readonly (string | undefined)[], description: string, remedy: string): Fault[] =>
    values.flatMap((value, i) =>
      value && values.indexOf(value) < i ? [{ path: `${path}[${i}]`, description, remedy }] : [],
    )
  return [
    ...keys.flatMap(({ key, keySha256 }, i) => {
      if ((key === undefined) !== (keySha256 === undefined)) return []
      const description =
        key === undefined ? 'missing; expected the key or its SHA-256' : 'the key and its SHA-256 are both given'
      const remedy = 'write either key or key_sha256; make both with: bellwire keys new'
      return [{ path: `${path}[${i}].key`, description, remedy }]
    }),
    ...repeated(
      keys.map(({ name }) => name),
      'another key has the same name',
      'give each key its own name',
    ),
    ...repeated(digests, 'this key is listed twice', 'make another with: openssl rand -hex 24'),
  ]
}

export interface Retried {
  readonly retry?: { readonly firstMs?: number; readonly mostMs?: number }
}

/** @param path 'platform.lanes', or 'lanes' in the library */
export const retryFaults = (path: string, all: readonly Retried[]): Fault[] =>
  all.flatMap(({ retry: { firstMs = 0, mostMs = Number.POSITIVE_INFINITY } = {} }, i) => {
    if (firstMs <= mostMs) return []
    const description = 'the first backoff is longer than the longest'
    return [{ path: `${path}[${i}].retry`, description, remedy: 'lower the first, or raise the longest' }]
  })

interface CheckedPlatform {
  readonly keys: readonly { readonly name: string; readonly scopes?: readonly string[] }[]
  readonly lanes: readonly (Retried & {
    readonly brand: string
    readonly channel: string
    readonly transactional?: { readonly keys?: readonly string[] }
  })[]
}

/** @param side 'platform.', or '' in the library */
export function laneFaults({ keys, lanes }: CheckedPlatform, side: string): Fault[] {
  const names = lanes.map(({ brand, channel }) => `${brand}/${channel}`)
  const faults: Fault[] = []
  for (const [i, { transactional }] of lanes.entries()) {
    const path = `${side}lanes[${i}]`
    if (names.indexOf(names[i] as string) < i)
      faults.push({
        path,
        description: 'this brand and channel have a lane already',
        remedy: 'keep one lane for each brand and channel',
      })
    for (const [n, name] of transactional?.keys?.entries() ?? []) {
      if (keys.some((key) => key.name === name && key.scopes?.includes('enqueue'))) continue
      faults.push({
        path: `${path}.transactional.keys[${n}]`,
        description: `no key with the scope enqueue is named ${JSON.stringify(name)}`,
        remedy: `write the name of such a key under ${side}keys`,
      })
    }
  }
  return [...faults, ...retryFaults(`${side}lanes`, lanes)]
}

/**
 * A brand that is named where it has no effect, since it is not defined.
 *
 * @param definedBy 'the brands of operator.keys'
 */
export const brandFaults = (
  path: string,
  named: readonly string[],
  defined: readonly string[],
  definedBy: string,
): Fault[] =>
  named
    .filter((brand) => !defined.includes(brand))
    .map((brand) => ({
      path,
      description: `brand ${brand} is named here only`,
      remedy: `write one of ${definedBy}: ${[...new Set(defined)].join(', ') || 'none'}`,
    }))

interface Devices {
  readonly services: readonly { readonly name: string }[]
  readonly presentation?: Parameters<typeof presentationFaults>[1]
}

/** @param path of the option `push` */
export function pushFaults(path: string, push: object | undefined): Fault[] {
  if (!push || !('devices' in push)) return []
  const { services, presentation = [] } = push.devices as Devices
  const names = services.map((service) => service?.name)
  return presentationFaults(`${path}.devices.presentation`, presentation, names)
}

/** A presentation of a push service that does not exist is never used. */
export const presentationFaults = (
  path: string,
  rules: readonly { readonly services?: readonly string[] }[],
  names: readonly string[],
): Fault[] =>
  rules.flatMap(({ services = [] }, i) =>
    services
      .filter((name) => !names.includes(name))
      .map((name) => ({
        path: `${path}[${i}].services`,
        description: `no push service is named ${JSON.stringify(name)}`,
        remedy: `use one of ${names.join(', ')}`,
      })),
  )
