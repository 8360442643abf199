// The links and unlinks of the proof device-links, and the expected final registry. Two brands have equal users and tokens. In
// each round every user has one event, and tokens often move between users.

export interface ProvedEvent {
  readonly brand: string
  readonly user: string
  readonly token: string
  readonly what: 'link' | 'unlink'
  /** The number of the user's event. It can be derived from the event's time. */
  readonly round: number
  readonly at: number
}

export const usersOfBrand = 20
const brands = ['1', '2'] as const
const begin = Date.UTC(2026, 0, 1)

export function roundOf(round: number): readonly ProvedEvent[] {
  return brands.flatMap((brand, b) =>
    Array.from({ length: usersOfBrand }, (_, u): ProvedEvent => {
      const token = `token ${(u * 7 + round * (b === 0 ? 3 : 5)) % usersOfBrand}`
      const what = (round + u) % 3 === 2 ? 'unlink' : 'link'
      return {
        brand,
        user: `user ${u}`,
        token,
        what,
        round,
        at: begin + (round * brands.length + b) * usersOfBrand + u,
      }
    }),
  )
}

/** The round of the event with this time. */
export const roundAt = (at: number): number => Math.floor((at - begin) / (brands.length * usersOfBrand))

/** A line of the body of /admin/devices/link or unlink. */
export function lineOf({ brand, user, token, at }: ProvedEvent): string {
  const tokens = [{ token, channel: 'android', provider: 'firebase' }]
  return JSON.stringify({ brand, user_id: user, tokens, timestamp: new Date(at).toISOString() })
}

/** 'brand/user/token' of every linked device after these rounds, by an independent implementation of row 20. */
export function expectedDevices(rounds: number): readonly string[] {
  const links = new Map<string, ProvedEvent>()
  const unlinks = new Map<string, number>()
  for (let round = 0; round < rounds; round++)
    for (const event of roundOf(round)) {
      const { brand, token, user, what, at } = event
      if (what === 'link') links.set(`${brand}/${token}`, event)
      else unlinks.set(`${brand}/${token}/${user}`, at)
    }
  return [...links]
    .filter(([key, { user, at }]) => (unlinks.get(`${key}/${user}`) ?? 0) < at)
    .map(([, { brand, user, token }]) => `${brand}/${user}/${token}`)
    .sort()
}

/**
 * Finds events that arrived out of order for their user, and events that did not arrive. Only a link that lost its device to a later
 * event may be missing, because the operator does not publish a link that was replaced.
 */
export function findWrongArrivals(
  arrived: readonly { readonly brand: string; readonly user: string; readonly round: number }[],
  rounds: number,
): readonly string[] {
  const wrong: string[] = []
  const seen = new Map<string, Set<number>>()
  for (const { brand, user, round } of arrived) {
    const before = seen.get(`${brand}/${user}`) ?? new Set()
    seen.set(`${brand}/${user}`, before)
    const last = Math.max(-1, ...before)
    if (round < last && !before.has(round)) wrong.push(`${brand}/${user}: ${round} came after ${last}`)
    before.add(round)
  }
  const events = Array.from({ length: rounds }, (_, round) => roundOf(round)).flat()
  const eventsOf = Map.groupBy(events, ({ brand, token }) => `${brand}/${token}`)
  for (const event of events) {
    const { brand, user, token, what, round } = event
    if (seen.get(`${brand}/${user}`)?.has(round)) continue
    const replaced = what === 'link' && eventsOf.get(`${brand}/${token}`)?.some((later) => takesAway(later, event))
    if (!replaced) wrong.push(`${brand}/${user}: ${round} did not arrive`)
  }
  return wrong
}

const takesAway = (later: ProvedEvent, { user, at }: ProvedEvent): boolean =>
  later.at > at && (later.what === 'link') === (later.user !== user)
