/**
 * Our statements look up a set of rows by key. The planner guesses without statistics (a table that was just filled has
 * none) and then reads whole tables: measured on 100,000 rows, reading ahead took 12 to 23 us of CPU a row instead of 5.
 *
 * A generic plan for a set of rows is made while the table is small, and costs four times as much later.
 */
export const plannerSettings = [
  'plan_cache_mode = force_custom_plan',
  'enable_seqscan = off',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
] as const
