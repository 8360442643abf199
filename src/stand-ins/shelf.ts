// The devices of a stand-in: what they show, and what is kept for them while they are away.

import type { Devices, Kept, Shown } from './stand-in.ts'

/** One notification on its way to a device. */
export interface Note extends Kept {
  /** Epoch milliseconds: not kept beyond that. */
  readonly expiresAt: number
}

export interface ShelfOptions {
  /** What becomes of the notes kept for a device when one more comes: the real services differ. */
  readonly keep: (kept: readonly Note[], note: Note) => readonly Note[]
  readonly clock: () => number
}

export interface Shelf<Kind> extends Devices {
  add(token: string, kind: Kind, online?: boolean): void
  /** What kind of device this token belongs to; gone since then, if it is forgotten. */
  find(token: string): { readonly kind: Kind; readonly goneSince?: number } | undefined
  deliver(token: string, note: Note): void
}

interface Place<Kind> {
  readonly kind: Kind
  online: boolean
  goneSince?: number
  kept: readonly Note[]
  readonly shown: Shown[]
}

export function createShelf<Kind>({ keep, clock }: ShelfOptions): Shelf<Kind> {
  const places = new Map<string, Place<Kind>>()
  const listeners = new Set<(token: string, shown: Shown) => void>()

  function show(token: string, place: Place<Kind>, { expiresAt: _, ...note }: Note): void {
    const before = note.tag === undefined ? -1 : place.shown.findIndex(({ tag }) => tag === note.tag)
    const replaced = before === -1 ? 0 : (place.shown[before] as Shown).replaced + 1
    const shown: Shown = { at: clock(), ...note, replaced }
    if (before === -1) place.shown.push(shown)
    else place.shown[before] = shown
    for (const listener of listeners) listener(token, shown)
  }

  return {
    add(token, kind, online = true) {
      places.set(token, { kind, online, kept: [], shown: [] })
    },
    find: (token) => places.get(token),
    deliver(token, note) {
      const place = places.get(token)
      if (!place) return
      if (place.online) show(token, place, note)
      else if (note.expiresAt > clock()) place.kept = keep(place.kept, note)
    },
    shown: (token) => places.get(token)?.shown ?? [],
    kept: (token) => places.get(token)?.kept.filter(({ expiresAt }) => expiresAt > clock()) ?? [],
    onShown(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    setOnline(token, online) {
      const place = places.get(token)
      if (!place) return
      place.online = online
      if (!online) return
      const now = clock()
      const { kept } = place
      place.kept = []
      for (const note of kept) if (note.expiresAt > now) show(token, place, note)
    },
    forget(token) {
      const place = places.get(token)
      if (place) place.goneSince = clock()
    },
  }
}
