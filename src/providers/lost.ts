/** What a lost connection says of itself. */
export function messageOf(error: Error & { readonly code?: string }): string {
  // Of several addresses each has its own error, and the whole has no message.
  const { code = '', message } = error
  return message.includes(code) ? message : `${code} ${message}`.trim()
}
