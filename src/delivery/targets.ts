// Whom a message goes to: all devices of its user, or the targets that it names, if they are this user's now (design §5.4).

import type { Failed } from '../contract/outcome.ts'
import type { Device } from '../devices/device.ts'
import type { DeviceSource, Holder } from '../devices/device-source.ts'
import { gather } from '../runtime/gather.ts'
import { within } from '../runtime/within.ts'

/** What a named target is taken for that the registry has never seen: for operators without a registry. */
export type Unregistered = Pick<Device, 'kind' | 'app' | 'environment'>

export interface Targets {
  readonly devices: readonly Device[]
  /** Named targets that must not be used, each with the reason. */
  readonly refused: readonly { readonly token: string; readonly outcome: Failed }[]
}

export interface Who {
  readonly brand: string
  readonly userId: string
  /** The device tokens that the message names; absent: all devices of the user. */
  readonly tokens?: readonly string[]
}

export interface TargetsOptions {
  readonly source: DeviceSource
  readonly unregistered?: Unregistered
  readonly signal: AbortSignal
  /** Most devices of a user that a message goes to: the first that the source answers. 200. */
  readonly most?: number
}

const patienceMs = 5_000

interface Question extends Who {
  readonly answer: (targets: Targets) => void
  readonly fail: (error: unknown) => void
}

/**
 * Finds targets; rejects when the source cannot answer. All who ask in one turn are one look-up per brand.
 *
 * @example const find = createTargets({ source, signal }); const { devices } = await find({ brand: '1', userId: '1001' })
 */
export function createTargets({
  source,
  unregistered,
  signal,
  most = 200,
}: TargetsOptions): (who: Who) => Promise<Targets> {
  const enquire = gather<Question>((questions) => {
    for (const [brand, group] of Map.groupBy(questions, (q) => q.brand)) {
      const byUser = group.filter((q) => q.tokens === undefined)
      const byToken = group.filter((q) => q.tokens !== undefined)
      if (byUser.length > 0) void lookUp(byUser, () => devicesOf(brand, byUser))
      if (byToken.length > 0) void lookUp(byToken, () => holdersOf(brand, byToken))
    }
  })

  async function lookUp(questions: readonly Question[], read: () => Promise<(q: Question) => Targets>): Promise<void> {
    try {
      const targetsOf = await read()
      for (const question of questions) question.answer(targetsOf(question))
    } catch (error) {
      for (const question of questions) question.fail(error)
    }
  }

  async function devicesOf(brand: string, questions: readonly Question[]): Promise<(q: Question) => Targets> {
    const users = [...new Set(questions.map((q) => q.userId))]
    const look = { deadline: Date.now() + patienceMs, signal }
    const found = await within(patienceMs, source.of(brand, users, look))
    if (!(found instanceof Map)) throw new Error(`${source.name} answered no Map of user id to devices`)
    return ({ userId }) => {
      const devices = (found as ReadonlyMap<string, readonly Device[]>).get(userId) ?? []
      // It would ring at somebody else's.
      if (devices.some((device) => device.brand !== brand || device.userId !== userId))
        throw new Error(`${source.name} answered a device of another user for ${userId}`)
      return { devices: devices.length > most ? devices.slice(0, most) : devices, refused: [] }
    }
  }

  async function holdersOf(brand: string, questions: readonly Question[]): Promise<(q: Question) => Targets> {
    const tokens = [...new Set(questions.flatMap((q) => q.tokens ?? []))]
    const look = { deadline: Date.now() + patienceMs, signal }
    const found = await within(patienceMs, source.holders(brand, tokens, look))
    if (!(found instanceof Map)) throw new Error(`${source.name} answered no Map of token to holder`)
    return (who) => judgeTargets(who, found as ReadonlyMap<string, Holder>, unregistered)
  }

  return (who) => new Promise((answer, fail) => enquire({ ...who, answer, fail }))
}

/** Which of the named targets may be used. Pure: given whose they are now. */
export function judgeTargets(
  { brand, userId, tokens = [] }: Who,
  holders: ReadonlyMap<string, Holder>,
  unregistered?: Unregistered,
): Targets {
  // By the token as it is registered: what a message names may be written in another way.
  const devices = new Map<string, Device>()
  const refused: { token: string; outcome: Failed }[] = []
  for (const token of tokens) {
    const holder = holders.get(token)
    if (holder === undefined && unregistered)
      devices.set(token, { ...unregistered, brand, userId, token, linkedAt: '' })
    else if (holder === undefined) refused.push({ token, outcome: unknown })
    else if (holder === 'nobody') refused.push({ token, outcome: unlinked })
    else if (holder.brand !== brand || holder.userId !== userId) refused.push({ token, outcome: anothers })
    else devices.set(holder.token, holder)
  }
  return { devices: [...devices.values()], refused }
}

const refusal = (rule: string, error: string): Failed => ({ category: 'failed', reason: 'no_device', rule, error })

const unknown = refusal(
  'target: not registered',
  'the message names a device token that was never linked; link the device to the user, or allow unregistered targets (operator.push.devices.unregistered_targets)',
)
const unlinked = refusal(
  'target: unlinked',
  'the message names a device token that is linked to nobody now; leave the token out to reach the devices that the user has',
)
const anothers = refusal(
  "target: another's",
  "the message names a device token that is another user's now; leave the token out to reach the devices that the user has",
)
