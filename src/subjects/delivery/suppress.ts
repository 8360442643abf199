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
import { type Decision, otherDecisions, type Permission, type StoredBasis, toStored } from './permission.ts'
import type { Checked } from './send-path.ts'

const consent = { push: 'consent_push_notification', site: 'consent_site_notification' } as const
/** Nothing is exempt from these fields. */
const always: readonly Field[] = ['blocked', 'excluded']
/** The fields that can suppress a message. */
export const suppressing: readonly Field[] = [...always, 'active', consent.push, consent.site]
/** A setting asks for `active`: a campaign that wins back inactive players must reach them. */
export const suppressedByDefault: readonly Field[] = suppressing.filter((field) => field !== 'active')

/** An answer of the source for users of one brand. */
interface Answer {
  /** The fields that the source has for the brand. */
  readonly known: readonly Field[]
  /** The users for whom each field is true. */
  readonly users: ReadonlyMap<Field, ReadonlySet<string>>
  readonly readAt: number
  readonly asOf: number | null
  /** The proofs for its users, by the numbers of their bases: users with equal values share one. */
  readonly permissions: Map<number, Permission>
}

const forbids = (field: Field, { users }: Answer, userId: string): boolean =>
  always.includes(field) === (users.get(field)?.has(userId) === true)

function phraseReason(field: Field): string {
  if (always.includes(field)) return `the user is ${field}`
  return field === 'active' ? 'the user is not active' : `the user has not given ${field}`
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
  /** Whether the message may be sent now, with the proof. Fatal if the source or the rule cannot answer. */
  checkMessage(message: Message): Promise<Checked>
}

interface LookUp {
  readonly brand: string
  readonly userId: string
  readonly resolve: (answer: Answer) => void
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

  const [ofSource, ofRule] = [reportAnswers(source.name), reportAnswers('suppression.module')]

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
      const readAt = clock.now()
      let asOf: number | null = null
      const noteAsOf = (at: number): void => {
        asOf = Math.floor(Math.min(asOf ?? at, at))
      }
      const lookUp = { deadline: readAt + timeoutMs, signal, noteAsOf }
      const users = await within(timeoutMs, source.among(brand, ids, known, lookUp))
      // A missing field must not mean that the field is false for all users.
      if (!(users instanceof Map && known.every((field) => hasTexts(users.get(field)))))
        throw new Error(`its answer is not a Map with a Set of user ids, as strings, for each of ${known.join(', ')}`)
      const answer: Answer = { known, users, readAt, asOf, permissions: new Map() }
      ofSource.back(brand)
      for (const { resolve } of lookUps) resolve(answer)
    } catch (error) {
      ofSource.away(brand, error)
      for (const { reject } of lookUps) reject(error)
    }
  }

  const askSource = (brand: string, userId: string): Promise<Answer> =>
    new Promise((resolve, reject) => lookUpTogether({ brand, userId, resolve, reject }))

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
      if (why === undefined || (typeof why === 'string' && why !== '')) {
        ofRule.back(message.brand)
        return why
      }
      throw new Error(`it returned ${shown(why)}: return a reason, or undefined to send the message`)
    } catch (error) {
      ofRule.away(message.brand, error)
      throw new Error(`the rule of suppression.module cannot answer (${messageOf(error)})`, { cause: error })
    }
  }

  async function checkMessage(message: Message): Promise<Checked> {
    const { brand, userId, channel, key, text } = message
    const parts = hasExempt || rule ? readMessageKey(key) : undefined
    const isService = hasExempt && parts !== undefined && isExempt(parts)
    const startedAt = clock.now()
    let answer: Answer
    try {
      answer = await askSource(brand, userId)
    } catch (error) {
      const basis = basisOf('the source cannot answer', [], undefined, userId, isService)
      return {
        refusal: refuseUnknown(`the attribute source ${source.name} cannot answer (${messageOf(error)})`),
        permission: { basis, readAt: startedAt, asOf: null },
      }
    }
    const asked = (isService ? always : checkedFields[channel]).filter((field) => answer.known.includes(field))
    const permissionBy = (decided: Decision): Permission => {
      const basis = basisOf(decided, asked, answer, userId, isService)
      const same = answer.permissions.get(basis.id)
      if (same) return same
      const permission = { basis, readAt: answer.readAt, asOf: answer.asOf }
      answer.permissions.set(basis.id, permission)
      return permission
    }
    const field = asked.find((each) => forbids(each, answer, userId))
    if (field !== undefined) return { refusal: suppress(message, phraseReason(field)), permission: permissionBy(field) }
    if (!rule || !parts) return { permission: permissionBy('nothing forbids it') }
    try {
      const why = await askRule(rule, { ...parts, brand, channel, text, exempt: isService })
      if (why === undefined) return { permission: permissionBy('suppression.module allows it') }
      return { refusal: suppress(message, why), permission: permissionBy('suppression.module refuses it') }
    } catch (error) {
      return { refusal: refuseUnknown(messageOf(error)), permission: permissionBy('suppression.module cannot answer') }
    }
  }

  function suppress({ brand, ref }: Message, why: string): Failed {
    emit('message.suppressed', { brand, ref, why })
    return refuseFailed('suppressed', { error: `not sent: ${why}`, rule: `suppression: ${why}` })
  }

  const bases = new Map<number, StoredBasis>()

  /** Few different ones, which are found by numbers: this is called for each message. */
  function basisOf(
    decided: Decision,
    asked: readonly Field[],
    answer: Answer | undefined,
    userId: string,
    exempt: boolean,
  ): StoredBasis {
    let number = decisions.indexOf(decided) * 2 + Number(exempt)
    for (const field of suppressing)
      number = number * 3 + (asked.includes(field) ? 1 + Number(answer?.users.get(field)?.has(userId) === true) : 0)
    const known = bases.get(number)
    if (known) return known
    const fields = Object.fromEntries(asked.map((field) => [field, answer?.users.get(field)?.has(userId) === true]))
    const basis = toStored({ fields, exempt, source: source.name, decided })
    bases.set(number, basis)
    return basis
  }

  return {
    // Service messages are in the inbox of a user who has not consented to others.
    async mayRead(brand, userId) {
      const answer = await askSource(brand, userId)
      const asked = hasExempt ? always : checkedFields.site
      return !asked.some((field) => answer.known.includes(field) && forbids(field, answer, userId))
    },
    checkMessage,
  }
}

/** With ids as numbers, no user would be blocked. Only the first id is read, because a source may give all users that it knows. */
function hasTexts(ids: unknown): boolean {
  if (!(ids instanceof Set)) return false
  const [first = ''] = ids
  return typeof first === 'string'
}

/** Reports each look-up in vain, and the first answer when no brand waits for one any more. */
function reportAnswers(source: string) {
  const waiting = new Set<string>()
  let answers = false
  return {
    away(brand: string, error: unknown): void {
      waiting.add(brand)
      answers = false
      emit('suppression.away', { source, error: messageOf(error) })
    },
    back(brand: string): void {
      if (answers) return
      waiting.delete(brand)
      if (waiting.size > 0) return
      answers = true
      emit('suppression.back', { source })
    },
  }
}

const decisions: readonly Decision[] = [...suppressing, ...otherDecisions]

const refuseUnknown = (why: string): Fatal => refuseFatal('attributes_unknown', { error: `not sent: ${why}` })
