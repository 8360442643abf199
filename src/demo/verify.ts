import { brands, hasExcludedThemselves } from './cast.ts'
import type { Clients } from './clients.ts'
import type { Entry } from './entry.ts'
import type { Verdict } from './narrator.ts'
import type { Phones } from './phones.ts'
import { verifyPhones, verifyWaiting } from './verify-phones.ts'

export interface Places {
  readonly clients: Clients
  readonly phones: Phones
  /** Brings back who is away, so that what waited can be seen to arrive. Absent: they stay away. */
  readonly comeBack?: () => void
}

/** Looks whether what was sent is where it belongs, and nowhere else: in the inboxes and on the phones themselves. */
export async function verify(
  entries: readonly Entry[],
  { clients, phones, comeBack }: Places,
): Promise<readonly Verdict[]> {
  const verdicts = [await verifyInboxes(entries, clients), ...verifyWaiting(entries, phones)]
  comeBack?.()
  return [...verdicts, ...verifyPhones(entries, phones), ...verifyRefused(entries)]
}

async function verifyInboxes(entries: readonly Entry[], clients: Clients): Promise<Verdict> {
  const site = entries.filter(
    ({ channel, brand, user_id }) => channel === 'site' && !hasExcludedThemselves(brand, user_id),
  )
  let inPlace = 0
  let misplaced = 0
  for (const brand of brands) {
    for (const { id: user } of brand.users) {
      const own = new Set(
        site.filter((entry) => entry.brand === brand.id && entry.user_id === user).map(({ ref }) => ref),
      )
      const inbox = await clients.inbox(brand.id, user)
      if (inbox === undefined && !hasExcludedThemselves(brand.id, user)) misplaced++
      for (const { site_notification_id: ref } of inbox?.items ?? []) {
        if (own.delete(ref)) inPlace++
        else misplaced++
      }
    }
  }
  return {
    text: `${inPlace} of ${site.length} on-site notifications are in their inboxes, each once`,
    expected: inPlace === site.length && misplaced === 0,
  }
}

function verifyRefused(entries: readonly Entry[]): readonly Verdict[] {
  const excluded = entries.filter(({ brand, user_id }) => hasExcludedThemselves(brand, user_id))
  const refused = excluded.filter(({ state }) => state === 'refused').length
  const unreadable = entries.filter(({ state }) => state === 'unreadable').length
  return [
    {
      text: `${refused} of ${excluded.length} messages to a user who has excluded herself were refused, as they must be`,
      expected: refused === excluded.length,
    },
    {
      text: `${unreadable} of 1 unreadable record was named by its line and held up nobody`,
      expected: unreadable === 1,
    },
  ]
}
