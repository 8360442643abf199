// All checks of an operator, in the order of the run and of docs/checks.md.

import type { CheckGroup } from '../check.ts'
import type { Sender } from '../sender.ts'
import { atOnceChecks } from './at-once.ts'
import { authenticationChecks } from './authentication.ts'
import { batchOutcomeChecks } from './batch-outcomes.ts'
import { duplicateChecks } from './duplicates.ts'
import { endpointChecks } from './endpoints.ts'
import { httpChecks } from './http.ts'
import { idChecks } from './ids.ts'
import { lostAnswerChecks } from './lost-answers.ts'
import { reconciliationChecks } from './reconciliation.ts'
import { restartChecks } from './restart.ts'
import { shapeChecks } from './shapes.ts'
import { singleOutcomeChecks } from './single-outcomes.ts'
import { sizeChecks } from './sizes.ts'
import { streamChecks } from './streams.ts'
import { textChecks } from './texts.ts'

export const operatorChecks: readonly CheckGroup<Sender>[] = [
  { title: 'Endpoints', checks: endpointChecks },
  { title: 'Shapes of answers', checks: shapeChecks },
  { title: 'Ids and JSON', checks: idChecks },
  { title: 'Outcomes of single messages', checks: [...singleOutcomeChecks, ...textChecks] },
  { title: 'Outcomes of batches', checks: batchOutcomeChecks },
  { title: 'Repetitions', checks: duplicateChecks },
  { title: 'HTTP', checks: httpChecks },
  { title: 'Sizes', checks: sizeChecks },
  { title: 'Reconciliation', checks: [...reconciliationChecks, ...streamChecks] },
  { title: 'Behaviour over time', checks: [...atOnceChecks, ...lostAnswerChecks, ...restartChecks] },
  { title: 'Authentication', checks: authenticationChecks },
]
