/** Joins the messages of an error and of its causes. Clients wrap the real reason, once for each retry. */
export function messageOf(error: unknown): string {
  return [...new Set(reasons(error))].join(': ')
}

function reasons(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)]
  const inner = (error as Partial<AggregateError>).errors ?? []
  // The client of RabbitMQ names the method of a closed channel before the reason, and does not know each method.
  const message = error.message.replace(/^undefined: /, '')
  return [message, ...inner.flatMap(reasons), ...(error.cause === undefined ? [] : reasons(error.cause))]
}
