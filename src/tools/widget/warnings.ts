/**
 * Warns of each failure that a developer must correct, once. The page shows all failures as an outage.
 *
 * @param url the operator
 * @param origin of the page
 */
export function createWarnings(url: string, origin: string, warn: (text: string) => void): (error: unknown) => void {
  const shown = new Set<string>()
  return (error) => {
    const { status = 0 } = error as { readonly status?: number }
    // The operator answered, and works again later.
    if (status >= 500 || status === 429) return
    const text = error instanceof TypeError ? unreadable(url, origin) : (error as Error).message
    if (shown.has(text)) return
    shown.add(text)
    warn(`bellwire-inbox: ${text}`)
  }
}

/** A browser tells a page no more about a refused origin. */
const unreadable = (url: string, origin: string): string =>
  `${url} cannot be read from ${origin}: check that the operator runs and that operator.app.origins has ${origin}`
