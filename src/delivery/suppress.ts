// Suppression: never deliver to who must not get it (design §5.3). Asked right before the provider call.

import type { AttributeSource, Field } from '../attributes/attribute-source.ts'
import type { Failed, Fatal } from '../contract/outcome.ts'
import type { Channel, Message, Provider, Result, SendContext, Wrap } from '../providers/provider.ts'
import { emit } from '../runtime/events.ts'
import { gather } from '../runtime/gather.ts'

const consent = { push: 'consent_push_notification', site: 'consent_site_notification' } as const
const patienceMs = 5_000

/** Why this user must not get this message, or undefined. Pure: given who has which field true. */
export function refusal(
  known: readonly Field[],
  truth: ReadonlyMap<Field, ReadonlySet<string>>,
  userId: string,
  channel: Channel,
): string | undefined {
  const is = (field: Field): boolean => truth.get(field)?.has(userId) === true
  if (known.includes('blocked') && is('blocked')) return 'the user is blocked'
  if (known.includes('excluded') && is('excluded')) return 'the user is excluded'
  if (known.includes('active') && !is('active')) return 'the user is not active'
  if (known.includes(consent[channel]) && !is(consent[channel])) return `the user has not given ${consent[channel]}`
  return undefined
}

interface Question {
  readonly brand: string
  readonly userId: string
  readonly answer: (truth: ReadonlyMap<Field, ReadonlySet<string>>) => void
  readonly fail: (error: unknown) => void
}

export interface Suppression {
  /** Why a user must not be messaged on this channel, or undefined; rejects if the source cannot answer. */
  ask(brand: string, userId: string, channel: Channel): Promise<string | undefined>
  readonly wrap: Wrap
}

/**
 * Refuses messages to blocked, excluded, inactive or unconsented users as failed. A source that cannot answer makes the
 * message fatal, never sent. All users asked about in one turn are one look-up per brand.
 */
export function createSuppression(source: AttributeSource, signal: AbortSignal): Suppression {
  const relevant = source.fields.filter(
    (f) => f === 'blocked' || f === 'excluded' || f === 'active' || f === consent.push || f === consent.site,
  )

  const enquire = gather<Question>((questions) => {
    for (const [brand, group] of Map.groupBy(questions, (q) => q.brand)) void lookUp(brand, group)
  })

  async function lookUp(brand: string, questions: readonly Question[]): Promise<void> {
    try {
      const users = [...new Set(questions.map((q) => q.userId))]
      const deadline = Date.now() + patienceMs
      const truth = await within(patienceMs, source.among(brand, users, relevant, { deadline, signal }))
      if (!(truth instanceof Map)) throw new Error(`${source.name} answered no Map of field to user ids`)
      for (const question of questions) question.answer(truth)
    } catch (error) {
      for (const question of questions) question.fail(error)
    }
  }

  const ask = (brand: string, userId: string, channel: Channel): Promise<string | undefined> =>
    new Promise((resolve, fail) => {
      enquire({ brand, userId, answer: (truth) => resolve(refusal(relevant, truth, userId, channel)), fail })
    })

  const judge = async (message: Message): Promise<Failed | Fatal | undefined> => {
    try {
      const why = await ask(message.brand, message.userId, message.channel)
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

  const wrap: Wrap = (inner: Provider): Provider => ({
    ...inner,
    async send(messages: readonly Message[], context: SendContext): Promise<readonly Result[]> {
      const verdicts = await Promise.all(messages.map(judge))
      const allowed = messages.filter((_, i) => verdicts[i] === undefined)
      if (allowed.length === 0) return verdicts as Result[]
      const results = await inner.send(allowed, context)
      let next = 0
      return verdicts.map((verdict) => verdict ?? (results[next++] as Result))
    },
  })
  return { ask, wrap }
}

async function within<Answer>(ms: number, work: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
