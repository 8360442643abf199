import type { ProvedRecord } from './records.ts'

/** Record n for one of so many people of two brands: 2n and 2n+1 differ in the brand only, ids and users are the same. */
export function fleetRecords(count: number, people: number, from = 0): readonly ProvedRecord[] {
  return Array.from({ length: count }, (_, i) => {
    const n = from + i
    const brand = String((n % 2) + 1)
    const id = String(9_007_199_254_740_993n + BigInt(n >> 1)) // beyond what a double can hold, as the wire allows (row 1)
    const user = String(1001 + ((n >> 1) % (people / 2)))
    const activity = `{"id":${id},"brand_id":${brand},"user_id":"${user}","activity_id":4711,"action_group_id":12,"trigger_hash":"9f86d081","action_id":34}`
    return {
      brand,
      id,
      user,
      text: `{"activity":${activity},"title":"Record ${n}","body":"for ${user} of brand ${brand}"}`,
    }
  })
}
