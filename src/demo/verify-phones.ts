import { hasExcludedThemselves } from './cast.ts'
import type { Entry } from './entry.ts'
import type { Verdict } from './narrator.ts'
import type { Phone, Phones } from './phones.ts'

/** Those that are away show nothing of it yet, and their push service keeps it. */
export function verifyWaiting(entries: readonly Entry[], phones: Phones): readonly Verdict[] {
  const away = ringsOf(entries, phones).filter(({ phone }) => !phone.online)
  if (away.length === 0) return []
  const waiting = away.filter((ring) => timesKept(ring, phones) === 1 && timesShown(ring, phones) === 0).length
  return [
    {
      text: `${waiting} of ${away.length} push for a phone that is offline waits at the push service until the phone is back`,
      expected: waiting === away.length,
    },
  ]
}

/** What the phones themselves show: each message on its user's devices, and nothing on those of others. */
export function verifyPhones(entries: readonly Entry[], phones: Phones): readonly Verdict[] {
  const rings = ringsOf(entries, phones)
  const due = rings.filter(({ phone }) => phone.online)
  const rang = due.filter((ring) => timesShown(ring, phones) === 1).length
  const silent = phones.list.filter(({ brand, userId }) => hasExcludedThemselves(brand, userId))
  const heard = silent.filter((phone) => phones.shown(phone).length + phones.kept(phone).length > 0).length
  return [
    {
      text: `${rang} of ${due.length} pushes are on their devices, each once`,
      expected: rang === due.length && strays(rings, phones) === 0,
    },
    {
      text: `The phone of the user who has excluded herself ${heard === 0 ? 'stayed silent' : 'rang'}`,
      expected: silent.length > 0 && heard === 0,
    },
  ]
}

/** One message and one of its user's devices. */
interface Ring {
  readonly ref: string | undefined
  readonly phone: Phone
}

function ringsOf(entries: readonly Entry[], phones: Phones): readonly Ring[] {
  return entries
    .filter(({ channel, state }) => channel === 'push' && state !== 'unreadable')
    .filter(({ brand, user_id }) => !hasExcludedThemselves(brand, user_id))
    .flatMap(({ brand, user_id, ref }) => phones.of(brand, user_id).map((phone) => ({ ref, phone })))
}

function timesShown({ ref, phone }: Ring, phones: Phones): number {
  const mine = phones.shown(phone).filter(({ tag }) => tag === ref)
  return mine.reduce((sum, { replaced }) => sum + 1 + replaced, 0)
}

function timesKept({ ref, phone }: Ring, phones: Phones): number {
  return phones.kept(phone).filter(({ tag }) => tag === ref).length
}

/** Of these messages, how many are on devices of others. */
function strays(rings: readonly Ring[], phones: Phones): number {
  const own = new Set(rings.map(({ ref, phone }) => `${ref} ${phone.id}`))
  const refs = new Set(rings.map(({ ref }) => ref))
  return phones.list
    .flatMap((phone) => [...phones.shown(phone), ...phones.kept(phone)].map(({ tag }) => ({ tag, phone })))
    .filter(({ tag, phone }) => refs.has(tag) && !own.has(`${tag} ${phone.id}`)).length
}
