import { brands, hasExcludedThemselves } from './cast.ts'
import type { Clients } from './clients.ts'
import type { Entry } from './entry.ts'
import type { Verdict } from './narrator.ts'
import type { Phones } from './phones.ts'

export interface VerifyContext {
  readonly clients: Clients
  readonly phones: Phones
  /** Switches the offline phones online, to check that stored pushes arrive. Absent: they stay offline. */
  readonly switchOnline?: () => void
}

/** Checks that each message is in the inbox or on the devices of its user, and nowhere else. */
export async function verify(
  entries: readonly Entry[],
  { clients, phones, switchOnline }: VerifyContext,
): Promise<readonly Verdict[]> {
  const verdicts = [await verifyInboxes(entries, clients), ...verifyWaiting(entries, phones)]
  switchOnline?.()
  return [...verdicts, ...verifyPhones(entries, phones), ...verifyRefused(entries)]
}

async function verifyInboxes(entries: readonly Entry[], clients: Clients): Promise<Verdict> {
  const site = receivable(entries).filter(({ channel }) => channel === 'site')
  const held: Placement[] = []
  let missing = 0
  for (const { id: brand, users } of brands) {
    for (const { id: user } of users) {
      const inbox = await clients.inbox(brand, user)
      if (inbox === undefined && !hasExcludedThemselves(brand, user)) missing++
      for (const { site_notification_id: ref } of inbox?.items ?? []) held.push({ ref, place: `${brand} ${user}` })
    }
  }
  const expected = site.map(({ ref, brand, user_id }) => ({ ref, place: `${brand} ${user_id}` }))
  const correct = countOnce(expected, held)
  return {
    text: `${correct} of ${site.length} on-site notifications are in their inboxes, each once`,
    expected: correct === site.length && missing === 0 && findMisplaced(expected, held).length === 0,
  }
}

/** Checks that pushes for offline phones are stored by their push service and not shown yet. */
export function verifyWaiting(entries: readonly Entry[], phones: Phones): readonly Verdict[] {
  const offline = expectedPushes(entries, phones).filter(({ online }) => !online)
  if (offline.length === 0) return []
  const shown = shownOn(phones)
  const waiting = countOnce(
    offline.filter((push) => countTimes(push, shown) === 0),
    keptFor(phones),
  )
  return [
    {
      text: `${waiting} of ${offline.length} push for a phone that is offline waits at the push service until the phone is online`,
      expected: waiting === offline.length,
    },
  ]
}

/** Checks that each push is shown on its user's devices and on no others. */
export function verifyPhones(entries: readonly Entry[], phones: Phones): readonly Verdict[] {
  const pushes = expectedPushes(entries, phones)
  const due = pushes.filter(({ online }) => online)
  const refs = new Set(pushes.map(({ ref }) => ref))
  const held = [...shownOn(phones), ...keptFor(phones)]
  const misplaced = findMisplaced(pushes, held).filter(({ ref }) => refs.has(ref))
  const shown = countOnce(due, shownOn(phones))
  const excluded = phones.list.filter(({ brand, userId }) => hasExcludedThemselves(brand, userId)).map(({ id }) => id)
  const reached = held.some(({ place }) => excluded.includes(place))
  return [
    {
      text: `${shown} of ${due.length} pushes are on their devices, each once`,
      expected: shown === due.length && misplaced.length === 0,
    },
    {
      text: `The phone of the user who has excluded herself ${reached ? 'rang' : 'stayed silent'}`,
      expected: excluded.length > 0 && !reached,
    },
  ]
}

function verifyRefused(entries: readonly Entry[]): readonly Verdict[] {
  const excluded = entries.filter(({ brand, user_id }) => hasExcludedThemselves(brand, user_id))
  const refused = excluded.filter(({ state }) => state === 'refused').length
  const unreadable = entries.filter(({ state }) => state === 'unreadable').length
  return [
    {
      text: `${refused} of ${excluded.length} messages to a user who has excluded herself were refused, as expected`,
      expected: refused === excluded.length,
    },
    {
      text: `${unreadable} of 1 unreadable record was refused with its line number and delayed no other message`,
      expected: unreadable === 1,
    },
  ]
}

/** A message at one place: the inbox of a user, or a device. */
interface Placement {
  readonly ref: string | undefined
  readonly place: string
}

const countTimes = ({ ref, place }: Placement, held: readonly Placement[]): number =>
  held.filter((each) => each.ref === ref && each.place === place).length

const countOnce = (expected: readonly Placement[], held: readonly Placement[]): number =>
  expected.filter((each) => countTimes(each, held) === 1).length

const findMisplaced = (expected: readonly Placement[], held: readonly Placement[]): readonly Placement[] =>
  held.filter((each) => countTimes(each, expected) === 0)

const receivable = (entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ brand, user_id }) => !hasExcludedThemselves(brand, user_id))

/** Each push, on each device of its user. */
const expectedPushes = (entries: readonly Entry[], phones: Phones): readonly (Placement & { online: boolean })[] =>
  receivable(entries)
    .filter(({ channel, state }) => channel === 'push' && state !== 'unreadable')
    .flatMap(({ brand, user_id, ref }) =>
      phones.of(brand, user_id).map(({ id, online }) => ({ ref, place: id, online })),
    )

/** A push that replaced an equal one was shown more than once. */
const shownOn = (phones: Phones): readonly Placement[] =>
  phones.list.flatMap((phone) =>
    phones.shown(phone).flatMap(({ tag, replaced }) => Array(1 + replaced).fill({ ref: tag, place: phone.id })),
  )

const keptFor = (phones: Phones): readonly Placement[] =>
  phones.list.flatMap((phone) => phones.kept(phone).map(({ tag }) => ({ ref: tag, place: phone.id })))
