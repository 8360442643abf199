import { brands, hasExcludedThemselves } from './cast.ts'
import type { Clients } from './clients.ts'
import type { Entry } from './journal.ts'
import type { Verdict } from './narrator.ts'
import type { World } from './world.ts'

/** Looks whether what was sent is where it belongs, and nowhere else: in the inboxes and at the push provider themselves. */
export async function verify(entries: readonly Entry[], clients: Clients, world: World): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  const excluded = entries.filter(({ brand, user_id }) => hasExcludedThemselves(brand, user_id))
  const others = entries.filter((entry) => entry.state !== 'unreadable' && !excluded.includes(entry))
  const unreadable = entries.filter(({ state }) => state === 'unreadable')

  const site = others.filter(({ channel }) => channel === 'site')
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
  verdicts.push({
    text: `${inPlace} of ${site.length} on-site notifications are in their inboxes, each once`,
    expected: inPlace === site.length && misplaced === 0,
  })

  const push = others.filter(({ channel }) => channel === 'push')
  const recorded = world.pushes()
  const rang = push.filter(({ ref }) => recorded.filter((each) => each.ref === ref).length === 1).length
  verdicts.push({
    text: `${rang} of ${push.length} pushes were recorded, each once`,
    expected: rang === push.length && recorded.length === push.length,
  })

  const refused = excluded.filter(({ state }) => state === 'refused').length
  verdicts.push({
    text: `${refused} of ${excluded.length} messages to a user who has excluded herself were refused, as they must be`,
    expected: refused === excluded.length,
  })
  verdicts.push({
    text: `${unreadable.length} of 1 unreadable record was named by its line and held up nobody`,
    expected: unreadable.length === 1,
  })
  return verdicts
}
