// Broken variants of the plain operator: at least one for each check.

import { afterLossMutants } from './mutants/after-loss.ts'
import { authenticationMutants } from './mutants/authentication.ts'
import { batchMutants } from './mutants/batches.ts'
import { httpMutants } from './mutants/http.ts'
import type { EndpointKind, Mutant } from './mutants/mutant.ts'
import { reconciliationMutants } from './mutants/reconciliation.ts'
import { singleMutants } from './mutants/singles.ts'

export type { Mutant } from './mutants/mutant.ts'
export const mutants: readonly Mutant[] = [
  ...singleMutants,
  ...allAt('batch', batchMutants),
  ...httpMutants,
  ...allAt('reconciliation', reconciliationMutants),
  ...afterLossMutants,
  ...authenticationMutants,
]

function allAt(at: EndpointKind, mutants: readonly Mutant[]): readonly Mutant[] {
  return mutants.map((mutant) => ({ ...mutant, at }))
}
