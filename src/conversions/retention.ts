import { forgetOutcomeCounts } from '../queue/outcome-counts.ts'
import { forgetConversions } from './counted.ts'
import { forgetReported } from './tables.ts'

/** The retention of reported statuses and of their counts. */
export const forgetStatuses = [forgetReported, forgetConversions, forgetOutcomeCounts]
