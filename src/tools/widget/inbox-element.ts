import { InboxElement } from './element.ts'
import type { InboxTexts } from './texts.ts'
import type { Inbox, InboxNotification, InboxOptions } from './types.ts'

export { createInbox } from './inbox.ts'
export type { InboxTexts } from './texts.ts'
export type * from './types.ts'

/**
 * `<bellwire-inbox>`: a bell that opens the list of notifications, or with `view="list"` the list in the page.
 *
 * @example
 * <bellwire-inbox url="https://api.example.com" token-url="/bellwire-token"></bellwire-inbox>
 */
export interface BellwireInbox extends HTMLElement {
  /** The operator's URL. Attribute `url`. */
  url: string
  /** The route of your backend that answers a POST with `{"token": …}`. Attribute `token-url`. */
  tokenUrl: string
  /** Returns the subscriber token, instead of `token-url`. */
  getToken: InboxOptions['getToken'] | undefined
  /** A client that several elements of the page share, instead of `url`. The page starts and stops it. */
  client: Inbox | undefined
  /** `list` shows the list in the page, without a bell. Attribute `view`. */
  view: 'bell' | 'list'
  /** The number on the bell. Attribute `count`. */
  count: 'unread' | 'unseen'
  /** Translated texts. */
  texts: Partial<InboxTexts>
}

export interface BellwireInboxEvents {
  /** A notification has arrived. */
  'bellwire-arrival': CustomEvent<InboxNotification>
  /** The user opened a notification. `preventDefault()` keeps the browser from following its link. */
  'bellwire-open': CustomEvent<InboxNotification>
}

declare global {
  interface HTMLElementTagNameMap {
    'bellwire-inbox': BellwireInbox
  }
  interface HTMLElementEventMap extends BellwireInboxEvents {}
}

/** The attributes and properties in JSX. */
export interface BellwireInboxProps
  extends Partial<Pick<BellwireInbox, 'url' | 'getToken' | 'client' | 'view' | 'count' | 'texts'>> {
  'token-url'?: string
  tokenUrl?: string
  id?: string
  class?: string
  className?: string
  slot?: string
  lang?: string
  dir?: string
  hidden?: boolean
  style?: Readonly<Record<string, string | number | undefined>>
  key?: string | number | bigint | null
  ref?: ((element: BellwireInbox | null) => void) | { current: BellwireInbox | null } | null
  'onbellwire-arrival'?: (event: BellwireInboxEvents['bellwire-arrival']) => void
  'onbellwire-open'?: (event: BellwireInboxEvents['bellwire-open']) => void
}

// A site without React or Vue has no such module, which must be no error.
// biome-ignore lint/suspicious/noTsIgnore: the module exists in some projects
// @ts-ignore
declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'bellwire-inbox': BellwireInboxProps
    }
  }
}

// biome-ignore lint/suspicious/noTsIgnore: the module exists in some projects
// @ts-ignore
declare module 'vue' {
  interface GlobalComponents {
    'bellwire-inbox': new () => { $props: Omit<BellwireInboxProps, 'key' | 'ref'> }
  }
}

if (!customElements.get('bellwire-inbox')) customElements.define('bellwire-inbox', InboxElement)
