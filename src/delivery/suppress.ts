// Suppression: never deliver to who must not get it (design §5.3). Asked right before the provider call.

import { type AttributeSource, type Field, fieldsOf } from '../attributes/attribute-source.ts'
import type { Failed, Fatal } from '../contract/outcome.ts'
import type { Channel, Message, Result, SendContext, Wrap } from '../providers/provider.ts'
import { emit } from '../runtime/events.ts'
import { gather } from '../runtime/gather.ts'
import { within } from '../runtime/within.ts'
import { createMemory } from './suppression-memory.ts'

const consent = { push: 'consent_push_notification', site: 'consent_site_notification' } as const
const relevant: readonly Field[] = ['blocked', 'excluded', 'active', consent.push, consent.site]

/** How long a "may send" stays good between the look-up and the call: what waited longer is asked about again. */
const freshMs = 1_000

export type Truth = ReadonlyMap<Field, ReadonlySet<string>>

/** Why this user must not get this message, or undefined. Pure: given who has which field true. */
export function refusal(known: readonly Field[], truth: Truth, userId: string, channel: Channel): string | undefined {
  const is = (field: Field): boolean => truth.get(field)?.has(userId) === true
  if (known.includes('blocked') && is('blocked')) return 'the user is blocked'
  if (known.includes('excluded') && is('excluded')) return 'the user is excluded'
  if (known.includes('active') && !is('active')) return 'the user is not active'
  if (known.includes(consent[channel]) && !is(consent[channel])) return `the user has not given ${consent[channel]}`
  return undefined
}

export interface SuppressionOptions {
  /** How old a remembered "may send" may be, in milliseconds. 0, the default: nothing is remembered. */
  readonly maxStalenessMs?: number
  /** A source that takes longer cannot answer: the message is fatal. */
  readonly timeoutMs?: number
}

export interface Suppression {
  /** Why a user must not be messaged on this channel, or undefined; rejects if the source cannot answer. */
  ask(brand: string, userId: string, channel: Channel): Promise<string | undefined>
  /** Around all that comes before the provider call. */
  readonly wrap: Wrap
  /** Right around the provider: asks again about what has waited for over a second since. */
  readonly again: Wrap
}

interface Question {
  readonly brand: string
  readonly userId: string
  readonly answer: (known: readonly Field[], truth: Truth) => void
  readonly fail: (error: unknown) => void
}

/**
 * Refuses messages to blocked, excluded, inactive or unconsented users as failed. A source that cannot answer makes the
 * message fatal, never sent. All users asked about in one turn are one look-up per brand.
 *
 * @throws where the source knows nothing that could refuse anybody
 * @example createSuppression(fileSource, signal, { maxStalenessMs: 0 })
 */
export function createSuppression(
  source: AttributeSource,
  signal: AbortSignal,
  { maxStalenessMs = 0, timeoutMs = 5_000 }: SuppressionOptions = {},
): Suppression {
  if (!source.fields.some((field) => relevant.includes(field)))
    throw new Error(
      `${source.name} knows none of ${relevant.join(', ')}: add one, or write suppression: none to send to everybody`,
    )
  const memory = createMemory(maxStalenessMs)
  const askedAt = new WeakMap<Message, number>()

  const enquire = gather<Question>((questions) => {
    for (const [brand, group] of Map.groupBy(questions, (q) => q.brand)) void lookUp(brand, group)
  })

  async function lookUp(brand: string, questions: readonly Question[]): Promise<void> {
    try {
      const known = fieldsOf(source, brand).filter((field) => relevant.includes(field))
      if (known.length === 0) throw new Error(`it knows nothing of the users of brand ${brand}`)
      const users = [...new Set(questions.map((q) => q.userId))]
      const deadline = Date.now() + timeoutMs
      const truth = await within(timeoutMs, source.among(brand, users, known, { deadline, signal }))
      // An answer that leaves a field out would read as "nobody".
      if (!(truth instanceof Map && known.every((field) => truth.get(field) instanceof Set)))
        throw new Error(`it answered no Map with a Set of user ids for each of ${known.join(', ')}`)
      for (const question of questions) question.answer(known, truth)
    } catch (error) {
      emit('suppression.away', { source: source.name, error: error instanceof Error ? error.message : String(error) })
      for (const question of questions) question.fail(error)
    }
  }

  function ask(brand: string, userId: string, channel: Channel): Promise<string | undefined> {
    const key = `${brand} ${channel} ${userId}`
    const now = Date.now()
    if (memory.knows(key, now)) return Promise.resolve(undefined)
    return new Promise((resolve, fail) => {
      const answer: Question['answer'] = (known, truth) => {
        const why = refusal(known, truth, userId, channel)
        if (why === undefined) memory.keep(key, now)
        resolve(why)
      }
      enquire({ brand, userId, answer, fail })
    })
  }

  async function judge(message: Message): Promise<Failed | Fatal | undefined> {
    try {
      const why = await ask(message.brand, message.userId, message.channel)
      askedAt.set(message, Date.now())
      if (why === undefined) return undefined
      emit('message.suppressed', { brand: message.brand, ref: message.ref, why })
      return { category: 'failed', reason: 'suppressed', error: `not sent: ${why}`, rule: `suppression: ${why}` }
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error)
      return {
        category: 'fatal',
        reason: 'source_down',
        blame: 'provider',
        rule: 'suppression: no answer',
        error: `not sent: the attribute source ${source.name} cannot answer (${what})`,
      }
    }
  }

  /** Sends what is allowed among those that `when` says to ask about. */
  const judging =
    (when: (message: Message) => boolean): Wrap =>
    (inner) => ({
      name: inner.name,
      max: inner.max,
      ...(inner.transactional && { transactional: true }),
      ...(inner.departs && { departs: true }),
      ...(inner.findPauses && { findPauses: (messages: readonly Message[]) => inner.findPauses?.(messages) }),
      ...(inner.check && { check: () => inner.check?.() ?? Promise.resolve([]) }),
      ...(inner.close && { close: async () => inner.close?.() }),
      async send(messages: readonly Message[], context: SendContext): Promise<readonly Result[]> {
        if (!messages.some(when)) return inner.send(messages, context)
        const verdicts = await Promise.all(messages.map((m) => (when(m) ? judge(m) : undefined)))
        const allowed = messages.filter((_, i) => verdicts[i] === undefined)
        if (allowed.length === 0) return verdicts as Result[]
        const results = await inner.send(allowed, { ...context, judge })
        let next = 0
        return verdicts.map((verdict) => verdict ?? (results[next++] as Result))
      },
    })

  return {
    ask,
    wrap: judging(() => true),
    again: judging((message) => Date.now() - (askedAt.get(message) ?? 0) > freshMs),
  }
}
