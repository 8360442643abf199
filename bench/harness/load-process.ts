// The load generator as a separate process, on the driver's core.

import { closedLoop } from './closed-loop.ts'
import { handleCalls } from './handle-calls.ts'

handleCalls({ load: closedLoop })
