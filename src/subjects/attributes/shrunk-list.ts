// A list of users that has become much shorter may be half-written, or come from a half-loaded table. Until a person confirms it,
// the users whom it lacks keep their last values.

import type { Field } from './attribute-source.ts'
import { forbidding, type UserList } from './user-list.ts'

/** A smaller change is always accepted: two of three users may be unblocked in a day. */
const slack = 10
const shrinkPercent = 20

/** @returns how the list has shrunk implausibly; undefined if it has not */
export function findShrinkage(last: UserList, next: UserList): string | undefined {
  for (const [brand, users] of last.users) {
    const left = next.users.get(brand)?.size ?? 0
    if (hasShrunk(users.size, left)) return `it lists ${left} users of brand ${brand}, and listed ${users.size} before`
    for (const field of forbidding) {
      const before = last.holders.get(`${field} ${brand}`)?.size ?? 0
      const after = next.holders.get(`${field} ${brand}`)?.size ?? 0
      if (hasShrunk(before, after))
        return `it lists ${after} ${field} users of brand ${brand}, and listed ${before} before`
    }
  }
  return undefined
}

const hasShrunk = (before: number, after: number): boolean =>
  before - after > Math.max(slack, (before * shrinkPercent) / 100)

/** The value of a user while `next` is not confirmed: the stricter of both lists, or the last one if `next` lacks the user. */
export function holdsInEither(last: UserList, next: UserList, field: Field, brand: string, user: string): boolean {
  const inLast = last.holders.get(`${field} ${brand}`)?.has(user) === true
  const inNext = next.holders.get(`${field} ${brand}`)?.has(user) === true
  if (forbidding.includes(field)) return inLast || inNext
  return next.users.get(brand)?.has(user) === true ? inNext : inLast
}
