/** Times of a PostgreSQL store. Tests and proofs shorten them, as they replace the clock. */
export const postgresDefaults = {
  /** A process that is silent for this long loses all that it owns. */
  leaseMs: 10_000,
  /** Partitions that exist before their day: a process that cannot create partitions still stores messages for this number of days. */
  daysAhead: 7,
}
