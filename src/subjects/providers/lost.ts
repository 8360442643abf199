/** The text of a connection error. */
export function messageOf(error: Error & { readonly code?: string }): string {
  // If a host has several addresses, each has an error of its own, and the combined error has no message.
  const { code = '', message } = error
  return message.includes(code) ? message : `${code} ${message}`.trim()
}
