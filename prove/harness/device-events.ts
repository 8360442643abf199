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

/** Finds arrivals out of order: an event must not arrive before the earlier events of its brand and user. */
export function checkOrder(
  arrived: readonly { readonly brand: string; readonly user: string; readonly round: number }[],
) {
  const next = new Map<string, number>()
  const wrong: string[] = []
  for (const { brand, user, round } of arrived) {
    const key = `${brand}/${user}`
    const due = next.get(key) ?? 0
    if (round > due) wrong.push(`${key}: ${round} came before ${due}`)
    if (round >= due) next.set(key, round + 1)
  }
  return { wrong, reached: next }
}
