import { brands, hasExcludedThemselves } from './cast.ts'
import type { Clients } from './clients.ts'
import type { Entry } from './entry.ts'
import type { Verdict } from './narrator.ts'
import type { Phones } from './phones.ts'
import { verifyPhones, verifyWaiting } from './verify-phones.ts'

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
  const site = entries.filter(
    ({ channel, brand, user_id }) => channel === 'site' && !hasExcludedThemselves(brand, user_id),
  )
  let correct = 0
  let misplaced = 0
  for (const brand of brands) {
    for (const { id: user } of brand.users) {
      const own = new Set(
        site.filter((entry) => entry.brand === brand.id && entry.user_id === user).map(({ ref }) => ref),
      )
      const inbox = await clients.inbox(brand.id, user)
      if (inbox === undefined && !hasExcludedThemselves(brand.id, user)) misplaced++
      for (const { site_notification_id: ref } of inbox?.items ?? []) {
        if (own.delete(ref)) correct++
        else misplaced++
      }
    }
  }
  return {
    text: `${correct} of ${site.length} on-site notifications are in their inboxes, each once`,
    expected: correct === site.length && misplaced === 0,
  }
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
