// Function sources: one blocks only user 1001 of brand 1. The other blocks nobody and contains the point between claim and call,
// because the source is read after the claim and before the call.

import { functionSource } from '../../src/subjects/attributes/function.ts'
import { isAnyLeaving, passPoint } from './strike.ts'

/** The user with the same id in brand 2 is not blocked. */
export const blocked = { brand: '1', user: '1001' }

export const nobodyBlocked = functionSource(['blocked'], async () => {
  // For a message on its way to the provider, the source may be read again: that is not the point between claim and call.
  if (!isAnyLeaving()) await passPoint('between-claim-and-call')
  return []
})

export const oneBlocked = functionSource(['blocked'], (brand, users) =>
  users.filter((user) => brand === blocked.brand && user === blocked.user),
)
