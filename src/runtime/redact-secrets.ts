/** Shorter ones are words, and taking those out would spoil the text. */
const shortest = 4

/**
 * The text without these, also where they stand as JSON.
 *
 * @example redactSecrets('key abcd is wrong', ['abcd']) // 'key [redacted] is wrong'
 */
export function redactSecrets(text: string, secrets: Iterable<string>): string {
  let clean = text
  // The longer first, lest a part of one remain.
  for (const secret of [...secrets].sort((a, b) => b.length - a.length)) {
    if (secret.length < shortest) continue
    for (const form of [secret, JSON.stringify(secret).slice(1, -1)]) clean = clean.replaceAll(form, '[redacted]')
  }
  return clean
}
