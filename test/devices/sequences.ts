// All sequences of up to 4 link and unlink events of one token and two users, in every order of arrival and with every
// combination of equal and different timestamps; and an oracle for the owner of the token, written from the text of row 20,
// not from the code.

export interface TestEvent {
  readonly what: 'link' | 'unlink'
  readonly userId: 'a' | 'b'
  /** The rank of the event's timestamp: 1, 2, … */
  readonly time: number
}

/** Returns all 20,084 sequences. */
export function sequences(most = 4): TestEvent[][] {
  const all: TestEvent[][] = []
  for (let length = 1; length <= most; length++)
    for (const times of weakOrders(length))
      for (const kinds of kindsOf(length)) all.push(kinds.map((kind, i) => ({ ...kind, time: times[i] as number })))
  return all
}

/** Returns all rankings with ties: each contains every rank from 1 to the highest. */
function weakOrders(length: number): number[][] {
  return tuples(length, length)
    .map((tuple) => tuple.map((value) => value + 1))
    .filter((times) => times.every((time) => time === 1 || times.includes(time - 1)))
}

function kindsOf(length: number): Omit<TestEvent, 'time'>[][] {
  return tuples(length, 4).map((tuple) =>
    tuple.map((value) => ({ what: value < 2 ? 'link' : 'unlink', userId: value % 2 === 0 ? 'a' : 'b' })),
  )
}

function tuples(length: number, base: number): number[][] {
  return Array.from({ length: base ** length }, (_, n) =>
    Array.from({ length }, (_, i) => Math.floor(n / base ** i) % base),
  )
}

/** The owner: the user of the link that no other link surpasses, unless an unlink of this user is at the same time or later. */
export function oracle(events: readonly TestEvent[]): 'a' | 'b' | undefined {
  const surpasses = (one: TestEvent, other: TestEvent): boolean =>
    one.time > other.time || (one.time === other.time && one.userId > other.userId)
  const links = events.filter(({ what }) => what === 'link')
  const greatest = links.find((link) => !links.some((other) => surpasses(other, link)))
  if (!greatest) return undefined
  const unlinked = events.some(
    ({ what, userId, time }) => what === 'unlink' && userId === greatest.userId && time >= greatest.time,
  )
  return unlinked ? undefined : greatest.userId
}
