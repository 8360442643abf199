/** Shorter secrets are not redacted: they could be ordinary words, and the text would become unreadable. */
const shortestSecret = 4

/**
 * Replaces the secrets in a text with `[redacted]`, also in their JSON form.
 *
 * @example redactSecrets('key abcd is wrong', ['abcd']) // 'key [redacted] is wrong'
 */
export function redactSecrets(text: string, secrets: Iterable<string>): string {
  let redacted = text
  // Longest first: a secret may contain a shorter one.
  for (const secret of [...secrets].sort((a, b) => b.length - a.length)) {
    if (secret.length < shortestSecret) continue
    for (const form of [secret, JSON.stringify(secret).slice(1, -1)]) redacted = redacted.replaceAll(form, '[redacted]')
  }
  return redacted
}
