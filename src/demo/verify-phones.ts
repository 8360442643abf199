import { hasExcludedThemselves } from './cast.ts'
import type { Entry } from './entry.ts'
import type { Verdict } from './narrator.ts'
import type { Phone, Phones } from './phones.ts'

/** Checks that pushes for offline phones are stored by their push service and not shown yet. */
export function verifyWaiting(entries: readonly Entry[], phones: Phones): readonly Verdict[] {
  const offline = expectedPushes(entries, phones).filter(({ phone }) => !phone.online)
  if (offline.length === 0) return []
  const waiting = offline.filter((push) => timesKept(push, phones) === 1 && timesShown(push, phones) === 0).length
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
  const due = pushes.filter(({ phone }) => phone.online)
  const shown = due.filter((push) => timesShown(push, phones) === 1).length
  const excluded = phones.list.filter(({ brand, userId }) => hasExcludedThemselves(brand, userId))
  const reached = excluded.filter((phone) => phones.shown(phone).length + phones.kept(phone).length > 0).length
  return [
    {
      text: `${shown} of ${due.length} pushes are on their devices, each once`,
      expected: shown === due.length && countMisplaced(pushes, phones) === 0,
    },
    {
      text: `The phone of the user who has excluded herself ${reached === 0 ? 'stayed silent' : 'rang'}`,
      expected: excluded.length > 0 && reached === 0,
    },
  ]
}

/** One message and one of its user's devices. */
interface ExpectedPush {
  readonly ref: string | undefined
  readonly phone: Phone
}

function expectedPushes(entries: readonly Entry[], phones: Phones): readonly ExpectedPush[] {
  return entries
    .filter(({ channel, state }) => channel === 'push' && state !== 'unreadable')
    .filter(({ brand, user_id }) => !hasExcludedThemselves(brand, user_id))
    .flatMap(({ brand, user_id, ref }) => phones.of(brand, user_id).map((phone) => ({ ref, phone })))
}

function timesShown({ ref, phone }: ExpectedPush, phones: Phones): number {
  const shown = phones.shown(phone).filter(({ tag }) => tag === ref)
  return shown.reduce((sum, { replaced }) => sum + 1 + replaced, 0)
}

function timesKept({ ref, phone }: ExpectedPush, phones: Phones): number {
  return phones.kept(phone).filter(({ tag }) => tag === ref).length
}

/** Counts the pushes on devices of other users. */
function countMisplaced(pushes: readonly ExpectedPush[], phones: Phones): number {
  const own = new Set(pushes.map(({ ref, phone }) => `${ref} ${phone.id}`))
  const refs = new Set(pushes.map(({ ref }) => ref))
  return phones.list
    .flatMap((phone) => [...phones.shown(phone), ...phones.kept(phone)].map(({ tag }) => ({ tag, phone })))
    .filter(({ tag, phone }) => refs.has(tag) && !own.has(`${tag} ${phone.id}`)).length
}
