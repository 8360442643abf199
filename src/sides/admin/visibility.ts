import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http-error.ts'

/** A key that is bound to brands sees only these brands (row 31). */
export const isBrandVisible = (key: AccessKey, brand: string): boolean => key.brands?.includes(brand) ?? true

/** A key that is bound to brands sees only the lanes whose names begin with one of them (row 31). */
export const isLaneVisible = (key: AccessKey, lane: string): boolean =>
  key.brands?.some((brand) => lane.startsWith(`${brand}/`)) ?? true

/** @throws HttpError 403 for a brand that this key may not see */
export function demandVisible(key: AccessKey, brand: string): void {
  if (isBrandVisible(key, brand)) return
  throw new HttpError(403, `the key ${key.name} may not see brand ${brand}: add it to its brands in the configuration`)
}

/** @throws HttpError 403 for a brand whose data this key may not change */
export function demandBrand(key: AccessKey, brand: string): void {
  if (!isBrandVisible(key, brand)) throw new HttpError(403, `the key ${key.name} may not act for brand ${brand}`)
}

/** @throws HttpError 403 for a key that is bound to brands */
export function demandAllBrands({ name, brands }: AccessKey): void {
  if (brands) throw new HttpError(403, `the key ${name} is bound to brands: use a key without brands`)
}
