// The load generator as a separate process, on the driver's core.

import { closedLoop } from '../harness/closed-loop.ts'
import { handleCalls } from '../harness/handle-calls.ts'

handleCalls({ load: closedLoop })
