import type { Arrival } from './stand-in.ts'

/** A stand-in may run for days, so only the newest requests are kept. */
const most = 200_000

/** The list of received requests. */
export function createArrivals(): { readonly list: readonly Arrival[]; add(arrival: Arrival): void } {
  const list: Arrival[] = []
  return {
    list,
    add(arrival) {
      list.push(arrival)
      if (list.length > most * 1.1) list.splice(0, list.length - most)
    },
  }
}
