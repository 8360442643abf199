// The proofs that kill processes one after another, in small size. They wait most of the time, so they run beside the others.

import { isOfKills } from './kills.ts'
import { runSmall } from './run-small.ts'

await runSmall(isOfKills)
