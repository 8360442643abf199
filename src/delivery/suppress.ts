// Suppression: no message is delivered to a user who must not get it (design §5.3). Checked right before the provider call.

import { type AttributeSource, type Field, fieldsOf } from '../attributes/attribute-source.ts'
import type { Failed, Fatal } from '../contract/outcome.ts'
import { refuseFailed, refuseFatal } from '../contract/refusals.ts'
import type { Channel, Message } from '../providers/provider.ts'
import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { gather } from '../runtime/gather.ts'
import { messageOf } from '../runtime/message-of.ts'
import { within } from '../runtime/within.ts'
import { createAllowedCache } from './suppression-cache.ts'

const consent = { push: 'consent_push_notification', site: 'consent_site_notification' } as const
const relevant: readonly Field[] = ['blocked', 'excluded', 'active', consent.push, consent.site]

/** The users for whom each field is true. */
type FieldUsers = ReadonlyMap<Field, ReadonlySet<string>>

/** The reason why this user must not get messages on this channel, or undefined. */
function findReason(known: readonly Field[], users: FieldUsers, userId: string, channel: Channel): string | undefined {
  const is = (field: Field): boolean => users.get(field)?.has(userId) === true
  if (known.includes('blocked') && is('blocked')) return 'the user is blocked'
  if (known.includes('excluded') && is('excluded')) return 'the user is excluded'
  if (known.includes('active') && !is('active')) return 'the user is not active'
  if (known.includes(consent[channel]) && !is(consent[channel])) return `the user has not given ${consent[channel]}`
  return undefined
}

export interface SuppressionOptions {
  /** How long a permission to send is cached, in milliseconds. 0, the default: no cache. */
  readonly maxStalenessMs?: number
  /** Timeout of the source: the message is fatal. */
  readonly timeoutMs?: number
}

export interface Suppression {
  /** The reason why a user must not get messages on this channel, or undefined. Rejects if the source cannot answer. */
  findReason(brand: string, userId: string, channel: Channel): Promise<string | undefined>
  /** The outcome of a message that must not be sent now, or undefined. Fatal if the source cannot answer. */
  checkMessage(message: Message): Promise<Failed | Fatal | undefined>
}

interface LookUp {
  readonly brand: string
  readonly userId: string
  readonly resolve: (known: readonly Field[], users: FieldUsers) => void
  readonly reject: (error: unknown) => void
}

/**
 * Refuses messages to users who are blocked, excluded, inactive or without consent, as failed. If the source cannot answer, the
 * message is fatal and not sent. The users of one turn of the event loop are one look-up per brand.
 *
 * @throws if the source has none of the fields that suppression uses
 * @example createSuppression(fileSource, signal, { maxStalenessMs: 0 })
 */
export function createSuppression(
  source: AttributeSource,
  signal: AbortSignal,
  { maxStalenessMs = 0, timeoutMs = 5_000 }: SuppressionOptions = {},
): Suppression {
  if (!source.fields.some((field) => relevant.includes(field)))
    throw new Error(
      `${source.name} has none of the fields ${relevant.join(', ')}: add one, or write suppression: none to send to all users`,
    )
  const cache = createAllowedCache(maxStalenessMs)

  const lookUpTogether = gather<LookUp>((lookUps) => {
    for (const [brand, ofBrand] of Map.groupBy(lookUps, (lookUp) => lookUp.brand)) void readFields(brand, ofBrand)
  })

  async function readFields(brand: string, lookUps: readonly LookUp[]): Promise<void> {
    try {
      const known = fieldsOf(source, brand).filter((field) => relevant.includes(field))
      if (known.length === 0) throw new Error(`it has no fields for the users of brand ${brand}`)
      const ids = [...new Set(lookUps.map(({ userId }) => userId))]
      const deadline = clock.now() + timeoutMs
      const users = await within(timeoutMs, source.among(brand, ids, known, { deadline, signal }))
      // A missing field must not mean that the field is false for all users.
      if (!(users instanceof Map && known.every((field) => users.get(field) instanceof Set)))
        throw new Error(`its answer is not a Map with a Set of user ids for each of ${known.join(', ')}`)
      for (const { resolve } of lookUps) resolve(known, users)
    } catch (error) {
      emit('suppression.away', { source: source.name, error: messageOf(error) })
      for (const { reject } of lookUps) reject(error)
    }
  }

  function findUserReason(brand: string, userId: string, channel: Channel): Promise<string | undefined> {
    const key = `${brand} ${channel} ${userId}`
    const now = clock.monotonic()
    if (cache.isAllowed(key, now)) return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      const resolveFields: LookUp['resolve'] = (known, users) => {
        const reason = findReason(known, users, userId, channel)
        if (reason === undefined) cache.add(key, now)
        resolve(reason)
      }
      lookUpTogether({ brand, userId, resolve: resolveFields, reject })
    })
  }

  async function checkMessage(message: Message): Promise<Failed | Fatal | undefined> {
    try {
      const why = await findUserReason(message.brand, message.userId, message.channel)
      if (why === undefined) return undefined
      emit('message.suppressed', { brand: message.brand, ref: message.ref, why })
      return refuseFailed('suppressed', { error: `not sent: ${why}`, rule: `suppression: ${why}` })
    } catch (error) {
      const cause = messageOf(error)
      return refuseFatal('attributes_unknown', {
        error: `not sent: the attribute source ${source.name} cannot answer (${cause})`,
      })
    }
  }

  return { findReason: findUserReason, checkMessage }
}
