import type { AccessKey } from '../http/access.ts'

/** A key that is bound to brands sees only the lanes whose names begin with one of them (row 31). */
export function isLaneVisible(key: AccessKey, lane: string): boolean {
  return key.brands?.some((brand) => lane.startsWith(`${brand}/`)) ?? true
}
