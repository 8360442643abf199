import { writeFile } from 'node:fs/promises'

/** The records 2n and 2n+1 differ only in the brand: both brands have equal users and activity ids. */
export interface ProvedRecord {
  readonly brand: string
  readonly id: string
  readonly user: string
  readonly text: string
}

/** @param people the number of users, half of them in each brand */
export function record(n: number, people = 1_000): ProvedRecord {
  const brand = String((n % 2) + 1)
  const id = String(9_007_199_254_740_993n + BigInt(n >> 1)) // exceeds the precision of a double, which is allowed (row 1)
  const user = String(1001 + ((n >> 1) % (people / 2)))
  const activity = `{"id":${id},"brand_id":${brand},"user_id":"${user}","activity_id":4711,"action_group_id":12,"trigger_hash":"9f86d081","action_id":34}`
  return {
    brand,
    id,
    user,
    text: `{"activity":${activity},"title":"Record ${n}","body":"for ${user} of brand ${brand}"}`,
  }
}

export function records(from: number, count: number, people?: number): readonly ProvedRecord[] {
  return Array.from({ length: count }, (_, i) => record(from + i, people))
}

export function ndjson(list: readonly ProvedRecord[]): string {
  return list.map(({ text }) => `${text}\n`).join('')
}

export async function writeRecords(file: string, list: readonly ProvedRecord[]): Promise<void> {
  await writeFile(file, ndjson(list))
}

export function nameOf({
  brand,
  id,
  user,
}: {
  readonly brand: string
  readonly id: string
  readonly user: string
}): string {
  return `${brand}/${id}/${user}`
}
