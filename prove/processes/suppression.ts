// A function source that blocks user 1001 of brand 1 and nobody else, and that holds a message between its claim and its call:
// it is asked after the one and before the other.

import { functionSource } from '../../src/attributes/function.ts'
import { holdAt, isAnyLeaving } from './strike.ts'

/** In brand 2 there is a user of the same id, and nothing is known against that person. */
export const blocked = { brand: '1', user: '1001' }

export const nobodyBlocked = functionSource(['blocked'], async () => {
  // A message on its way may be asked about once more: that is not between claim and call.
  if (!isAnyLeaving()) await holdAt('between-claim-and-call')
  return []
})

export const oneBlocked = functionSource(['blocked'], (brand, users) =>
  users.filter((user) => brand === blocked.brand && user === blocked.user),
)
