// Suppression: no message is delivered to a user who must not get it (docs/contributing/decisions.md). Checked right before the provider call.

import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { gather } from '../../base/runtime/gather.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { within } from '../../base/runtime/within.ts'
import { type MessageParts, readMessageKey } from '../../contract/message-key.ts'
import type { Failed, Fatal } from '../../contract/outcome.ts'
import { refuseFailed, refuseFatal } from '../../contract/refusals.ts'
import { shown } from '../../contract/shown.ts'
import { type AttributeSource, type Field, fieldsOf } from '../attributes/attribute-source.ts'
import type { Channel, Message } from '../providers/provider.ts'

const consent = { push: 'consent_push_notification', site: 'consent_site_notification' } as const
/** Nothing is exempt from these fields. */
const always: readonly Field[] = ['blocked', 'excluded']
/** The fields that can suppress a message. */
export const suppressing: readonly Field[] = [...always, 'active', consent.push, consent.site]
/** A setting asks for `active`: a campaign that wins back inactive players must reach them. */
export const suppressedByDefault: readonly Field[] = suppressing.filter((field) => field !== 'active')

/** The users for whom each field is true. */
type FieldUsers = ReadonlyMap<Field, ReadonlySet<string>>

/** The reason why this user must not get messages, or undefined. */
function findReason(checked: readonly Field[], users: FieldUsers, userId: string): string | undefined {
  for (const field of checked) {
    const is = users.get(field)?.has(userId) === true
    if (always.includes(field)) {
      if (is) return `the user is ${field}`
    } else if (!is) return field === 'active' ? 'the user is not active' : `the user has not given ${field}`
  }
  return undefined
}

export interface SuppressionOptions {
  /**
   * The fields that suppress messages: blocked, excluded, active, consent_push_notification, consent_site_notification. A consent
   * concerns the messages of its channel. blocked and excluded suppress whether they are listed or not. Default: all but active;
   * a field that the source lacks then suppresses nothing.
   */
  readonly fields?: readonly Field[]
  /** Service messages, such as a login code: only blocked and excluded suppress them. One of these conditions is enough. */
  readonly exempt?: {
    readonly activities?: readonly string[]
    readonly triggerHashes?: readonly string[]
  }
  /** A rule of your own, for messages that the fields allow. */
  readonly rule?: SuppressionRule
  /** Timeout of the source, and of the rule: the message is fatal. */
  readonly timeoutMs?: number
}

/** A message, as a rule of your own sees it. */
export interface MessageToCheck extends MessageParts {
  readonly brand: string
  readonly channel: Channel
  /** The request element as JSON, byte for byte. */
  readonly text: string
  readonly exempt: boolean
}

/**
 * Returns the reason why a message must not be sent, or undefined. The message is then failed. If the rule throws, is late or
 * returns anything else, the message is fatal and not sent.
 *
 * @example const rule: SuppressionRule = async ({ brand, userId }) => ((await isTimedOut(brand, userId)) ? 'the user takes a break' : undefined)
 */
export type SuppressionRule = (
  message: MessageToCheck,
  context: { readonly deadline: number; readonly signal: AbortSignal },
) => string | undefined | Promise<string | undefined>

export interface Suppression {
  /** Whether the user may read the inbox. Rejects if the source cannot answer. */
  mayRead(brand: string, userId: string): Promise<boolean>
  /** The outcome of a message that must not be sent now, or undefined. Fatal if the source or the rule cannot answer. */
  checkMessage(message: Message): Promise<Failed | Fatal | undefined>
}

interface LookUp {
  readonly brand: string
  readonly userId: string
  readonly resolve: (known: readonly Field[], users: FieldUsers) => void
  readonly reject: (error: unknown) => void
}

/**
 * Refuses messages to users who are blocked, excluded or without consent, as failed. If the source cannot answer, the message is
 * fatal and not sent. The users of one turn of the event loop are one look-up per brand.
 *
 * @throws if the source has none of the fields that suppression uses, or lacks one that the options name
 * @example createSuppression(fileSource, signal)
 */
export function createSuppression(
  source: AttributeSource,
  signal: AbortSignal,
  { fields, exempt = {}, rule, timeoutMs = 5_000 }: SuppressionOptions = {},
): Suppression {
  const relevant = [...new Set([...always, ...(fields ?? suppressedByDefault)])]
  const wrong = relevant.filter((field) => !suppressing.includes(field))
  if (wrong.length > 0)
    throw new Error(`suppression.fields: ${wrong.join(', ')} suppresses nothing; write ${suppressing.join(', ')}`)
  /** The fields that the settings name; without them nothing is sent. */
  const required = (fields ?? []).filter((field) => !always.includes(field))
  const absent = required.filter((field) => !source.fields.includes(field))
  if (absent.length > 0)
    throw new Error(`suppression.fields names ${absent.join(', ')}, which ${source.name} does not have: add it there`)
  if (!source.fields.some((field) => relevant.includes(field)))
    throw new Error(
      `${source.name} has none of the fields ${relevant.join(', ')}: add one, or write suppression: none to send to all users`,
    )

  const lookUpTogether = gather<LookUp>((lookUps) => {
    for (const [brand, ofBrand] of Map.groupBy(lookUps, (lookUp) => lookUp.brand)) void readFields(brand, ofBrand)
  })

  async function readFields(brand: string, lookUps: readonly LookUp[]): Promise<void> {
    try {
      const known = fieldsOf(source, brand).filter((field) => relevant.includes(field))
      if (known.length === 0) throw new Error(`it has no fields for the users of brand ${brand}`)
      const missing = required.filter((field) => !known.includes(field))
      if (missing.length > 0) throw new Error(`it has no ${missing.join(', ')} for the users of brand ${brand}`)
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

  /** The reason why one of these fields forbids messages to the user. */
  function findUserReason(brand: string, userId: string, checked: readonly Field[]): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const resolveFields: LookUp['resolve'] = (known, users) => {
        const asked = checked.filter((field) => known.includes(field))
        resolve(findReason(asked, users, userId))
      }
      lookUpTogether({ brand, userId, resolve: resolveFields, reject })
    })
  }

  const checkedOn = (channel: Channel): readonly Field[] =>
    suppressing.filter(
      (field) => relevant.includes(field) && (!field.startsWith('consent_') || field === consent[channel]),
    )
  const checkedFields = { push: checkedOn('push'), site: checkedOn('site') }
  const hasExempt = Boolean(exempt.activities?.length || exempt.triggerHashes?.length)

  function isExempt({ activityId, triggerHash }: MessageParts): boolean {
    if (activityId !== null && exempt.activities?.includes(activityId)) return true
    return triggerHash !== null && exempt.triggerHashes?.includes(triggerHash) === true
  }

  async function askRule(ask: SuppressionRule, message: MessageToCheck): Promise<string | undefined> {
    try {
      const context = { deadline: clock.now() + timeoutMs, signal }
      const why: unknown = await within(timeoutMs, (async () => ask(message, context))())
      if (why === undefined || (typeof why === 'string' && why !== '')) return why
      throw new Error(`it returned ${shown(why)}: return a reason, or undefined to send the message`)
    } catch (error) {
      emit('suppression.away', { source: 'suppression.module', error: messageOf(error) })
      throw new Error(`the rule of suppression.module cannot answer (${messageOf(error)})`, { cause: error })
    }
  }

  async function findMessageReason({ brand, userId, channel, key, text }: Message): Promise<string | undefined> {
    const parts = hasExempt || rule ? readMessageKey(key) : undefined
    const isService = hasExempt && parts !== undefined && isExempt(parts)
    const why = await findUserReason(brand, userId, isService ? always : checkedFields[channel]).catch((error) => {
      throw new Error(`the attribute source ${source.name} cannot answer (${messageOf(error)})`, { cause: error })
    })
    if (why !== undefined || !rule || !parts) return why
    return askRule(rule, { ...parts, brand, channel, text, exempt: isService })
  }

  async function checkMessage(message: Message): Promise<Failed | Fatal | undefined> {
    try {
      const why = await findMessageReason(message)
      if (why === undefined) return undefined
      emit('message.suppressed', { brand: message.brand, ref: message.ref, why })
      return refuseFailed('suppressed', { error: `not sent: ${why}`, rule: `suppression: ${why}` })
    } catch (error) {
      return refuseFatal('attributes_unknown', { error: `not sent: ${messageOf(error)}` })
    }
  }

  return {
    // Service messages are in the inbox of a user who has not consented to others.
    mayRead: async (brand, userId) =>
      (await findUserReason(brand, userId, hasExempt ? always : checkedFields.site)) === undefined,
    checkMessage,
  }
}
