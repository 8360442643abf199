/**
 * Our statements look up a set of rows by key, and there is one good plan for each: by index, row by row. The planner,
 * left alone, guesses without statistics (a table that was just filled has none) and reads whole tables: measured on
 * 100,000 rows, reading ahead took 12 to 23 us of CPU a row instead of 5. With the other ways closed the plan made once is
 * the plan for ever: planning anew each time costs 0.3 ms a statement, a third of a small commit.
 */
export const plannerSettings = [
  'plan_cache_mode = force_generic_plan',
  'enable_seqscan = off',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
  // Compiling pays off for queries of seconds; the estimates of plans that we force are sometimes of that size.
  'jit = off',
] as const
