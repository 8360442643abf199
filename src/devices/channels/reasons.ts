/** What an error says, and what is behind it: clients wrap the reason that matters, each try once more. */
export function messageOf(error: unknown): string {
  return [...new Set(reasons(error))].join(': ')
}

function reasons(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)]
  const inner = (error as Partial<AggregateError>).errors ?? []
  return [error.message, ...inner.flatMap(reasons), ...(error.cause === undefined ? [] : reasons(error.cause))]
}
