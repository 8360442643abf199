import type { Subscription } from './subscription.ts'

/** Makes a function that removes the secrets of this subscription from the text of an answer. */
export function redactor({ endpoint, url, keys }: Subscription): (text: string) => string {
  const path = url.pathname + url.search
  const secrets = [endpoint, path, ...path.split(/[/?&=]/), ...Object.values(keys)]
    .flatMap((secret) => [secret, decoded(secret), JSON.stringify(secret).slice(1, -1)])
    // Shorter parts are no secrets, but words such as 'send' and 'wpush'.
    .filter((secret) => secret.length >= 12)
    .sort((a, b) => b.length - a.length) // the longest first, or a part of one could remain
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
