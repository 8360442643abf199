// The load generator in a process of its own, on the core that the server does not have.

import { answers } from './answers.ts'
import { closedLoop } from './closed-loop.ts'

answers({ load: closedLoop })
