/** The absolute form of a URL in a notification, or undefined if it is not http or https, such as `javascript:`. */
export function safeUrl(url: string | null): string | undefined {
  if (!url) return undefined
  try {
    const { protocol, href } = new URL(url, document.baseURI)
    return protocol === 'https:' || protocol === 'http:' ? href : undefined
  } catch {
    return undefined
  }
}
