import type { Subscription } from './subscription.ts'

/** A function that takes out of a stranger's text whatever of this subscription it repeats. */
export function redactor({ endpoint, url, keys }: Subscription): (text: string) => string {
  const path = url.pathname + url.search
  const secrets = [endpoint, path, ...path.split(/[/?&=]/), ...Object.values(keys)]
    .flatMap((secret) => [secret, decoded(secret), JSON.stringify(secret).slice(1, -1)])
    // Shorter parts are words like 'send' and 'wpush'.
    .filter((secret) => secret.length >= 12)
    .sort((a, b) => b.length - a.length) // the longer first, lest a part of one remain
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
