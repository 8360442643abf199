// Texts that are shown may be JSON, contain it, or be cut off in it.

/** The name of a member that may be a secret, such as the token of a device. In a text of JSON, its quotes are escaped. */
const member =
  /(?<!\\)(\\*)"(?:\w*(?:token|secret|password|authorization|api_?key)\w*|auth|p256dh|endpoint)\1"\s*:\s*(?=\\*["[{])/gi

/** @example hideSecrets('{"tokens":[["a"],"b"]}') // '{"tokens":"[hidden]"}' */
export function hideSecrets(text: string): string {
  const parts: string[] = []
  let from = 0
  for (const { 0: name, 1: escapes = '', index } of text.matchAll(member)) {
    // A member of a value that is hidden.
    if (index < from) continue
    const start = index + name.length
    parts.push(text.slice(from, start), `${escapes}"[hidden]${escapes}"`)
    from = endOfValue(text, start, escapes.length)
  }
  return parts.join('') + text.slice(from)
}

/** @param escapes the number of backslashes before a quote that begins or ends a text */
function endOfValue(text: string, start: number, escapes: number): number {
  const token = /(?<!\\)(\\*)"|[[\]{}]/g
  token.lastIndex = start
  let depth = 0
  let inText = false
  for (let found = token.exec(text); found; found = token.exec(text)) {
    const [bracket, { length } = {}] = found
    if (length === undefined) {
      if (!inText) depth += '[{'.includes(bracket) ? 1 : -1
    } else if (length < escapes)
      return found.index // the text that contains this JSON ends before it
    // Each escaped backslash of the text adds two backslashes for each one of its level.
    else inText = !inText || length % (2 * (escapes + 1)) !== escapes
    if (!inText && depth <= 0) return token.lastIndex
  }
  return text.length
}
