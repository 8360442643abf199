// A reason of the registry in plain words.

import { reasons } from '../../../contract/reasons.ts'
import { type Html, html } from '../html.ts'

/** The meaning of the reason, and its remedy. Undefined: a provider of your own gave it. */
export function describeReason(reason: string): { readonly says: Html; readonly remedy: Html } | undefined {
  const known = Object.entries(reasons).find(([name]) => name === reason)?.[1]
  return known && { says: plain(known.says), remedy: plain(known.remedy) }
}

/** @example plain('Read `error`. It was *fatal*.') // 'Read <code>error</code>. It was fatal.' */
const plain = (text: string): Html =>
  text
    .replaceAll('*', '')
    .split('`')
    .map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
    .join('')
