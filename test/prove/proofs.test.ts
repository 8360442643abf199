// All proofs but those of kills.test.ts, in small size.

import { isOfKills } from './kills.ts'
import { runSmall } from './run-small.ts'

await runSmall((proof) => !isOfKills(proof))
