import type { AccessKey } from '../../base/http/access.ts'

/** A key that is bound to brands sees only these brands (row 31). */
export const isBrandVisible = (key: AccessKey, brand: string): boolean => key.brands?.includes(brand) ?? true

/** A key that is bound to brands sees only the lanes whose names begin with one of them (row 31). */
export const isLaneVisible = (key: AccessKey, lane: string): boolean =>
  key.brands?.some((brand) => lane.startsWith(`${brand}/`)) ?? true
