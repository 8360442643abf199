/** The absolute form of a URL in a notification, or undefined if it is not http or https, such as `javascript:`. */
export function safeUrl(url: string | null | undefined, base: string): string | undefined {
  if (!url) return undefined
  try {
    const { protocol, href } = new URL(url, base)
    return protocol === 'https:' || protocol === 'http:' ? href : undefined
  } catch {
    return undefined
  }
}

/** The same for an image, whose address may contain the image (row 4). */
export function safeImageUrl(url: string | null, base: string): string | undefined {
  return url && /^data:image\//i.test(url) ? url : safeUrl(url, base)
}
