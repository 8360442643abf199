/** Joins the messages of an error and of its causes. Clients wrap the real reason, once for each retry. */
export function messageOf(error: unknown): string {
  return [...new Set(reasons(error))].join(': ')
}

function reasons(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)]
  const inner = (error as Partial<AggregateError>).errors ?? []
  return [error.message, ...inner.flatMap(reasons), ...(error.cause === undefined ? [] : reasons(error.cause))]
}
