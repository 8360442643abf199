/**
 * The message of anything that was thrown. A connection to several addresses fails with an AggregateError without a message of
 * its own: its errors' messages are joined.
 *
 * @example messageOf(new Error('the disk is full')) // 'the disk is full'
 */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ')
  return error instanceof Error ? error.message : String(error)
}
