import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { bellIcon, checkIcon, closeIcon, offlineIcon, silentIcon } from './icons.ts'
import { createInbox } from './inbox.ts'
import { initialState } from './inbox-state.ts'
import { notificationItem } from './notification-item.ts'
import { placePanel } from './place-panel.ts'
import { safeUrl } from './safe-url.ts'
import { styles } from './styles.ts'
import { english, type InboxTexts } from './texts.ts'
import type { Inbox, InboxNotification, InboxOptions, InboxState, Mark } from './types.ts'
import { isVisible } from './visible-text.ts'

/** How often the shown times are computed again. */
const timesMs = 30_000
const skeletons = [0, 1, 2]
/** The properties that choose the client. */
const connecting = ['url', 'tokenUrl', 'getToken', 'client'] as const

/** Of the elements that share a client, the one that announces notifications to screen readers. */
const speakers = new WeakMap<Inbox, InboxElement>()

/** The element `<bellwire-inbox>`; inbox-element.ts documents its properties. */
export class InboxElement extends LitElement {
  static override readonly styles = styles
  static override readonly properties = {
    url: {},
    tokenUrl: { attribute: 'token-url' },
    getToken: { attribute: false },
    client: { attribute: false },
    view: { reflect: true },
    count: {},
    texts: { attribute: false },
  }

  declare url: string
  declare tokenUrl: string
  declare getToken: InboxOptions['getToken'] | undefined
  declare client: Inbox | undefined
  declare view: 'bell' | 'list'
  declare count: 'unread' | 'unseen'
  declare texts: Partial<InboxTexts>

  #inbox: Inbox | undefined
  #release: (() => void) | undefined
  #open = false
  #announcement = ''
  #times = 0
  #markingSeen = false

  constructor() {
    super()
    this.url = ''
    this.tokenUrl = ''
    this.view = 'bell'
    this.count = 'unread'
    this.texts = {}
  }

  override connectedCallback(): void {
    super.connectedCallback()
    this.#times = setInterval(() => this.requestUpdate(), timesMs)
    addEventListener('resize', this.#place)
    addEventListener('scroll', this.#place, { passive: true, capture: true })
    document.addEventListener('visibilitychange', this.#shownAgain)
    if (this.hasUpdated) this.#connect()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    clearInterval(this.#times)
    removeEventListener('resize', this.#place)
    removeEventListener('scroll', this.#place, { capture: true })
    document.removeEventListener('visibilitychange', this.#shownAgain)
    // The browser closes the panel without an event.
    this.#open = false
    this.#disconnect()
  }

  override willUpdate(changed: PropertyValues<InboxElement>): void {
    // The panel is another element then, which is closed.
    if (changed.has('view')) this.#open = false
    // An element outside the page is updated too.
    if (this.isConnected && connecting.some((name) => changed.has(name))) this.#connect()
  }

  override updated(): void {
    if (this.#state.unseen > 0 && this.#state.status === 'live' && this.#showsList) void this.#markSeen()
  }

  get #state(): InboxState {
    return this.#inbox?.state ?? initialState
  }

  get #texts(): InboxTexts {
    return { ...english, ...this.texts }
  }

  /** Undefined, the browser's own: the page has no language, or one that is not a tag of BCP 47. */
  get #locale(): string | undefined {
    const lang = this.closest<HTMLElement>('[lang]')?.lang.replaceAll('_', '-')
    try {
      return lang && Intl.getCanonicalLocales(lang)[0]
    } catch {
      return undefined
    }
  }

  get #showsList(): boolean {
    return (this.view === 'list' || this.#open) && document.visibilityState === 'visible'
  }

  #connect(): void {
    this.#disconnect()
    const inbox = this.client ?? this.#createOwn()
    if (!inbox) return
    const ends = [
      inbox.subscribe(() => this.requestUpdate()),
      inbox.onArrival((notification) => this.#arrive(notification)),
    ]
    if (inbox !== this.client) {
      inbox.start()
      ends.push(() => inbox.stop())
    }
    this.#inbox = inbox
    if (!speakers.has(inbox)) speakers.set(inbox, this)
    this.#release = () => {
      for (const end of ends) end()
      if (speakers.get(inbox) === this) speakers.delete(inbox)
    }
    this.requestUpdate()
  }

  #createOwn(): Inbox | undefined {
    const getToken = this.getToken ?? (this.tokenUrl ? () => fetchToken(this.tokenUrl) : undefined)
    return this.url && getToken ? createInbox({ url: this.url, getToken }) : undefined
  }

  #disconnect(): void {
    this.#release?.()
    this.#release = undefined
    this.#inbox = undefined
  }

  #arrive(notification: InboxNotification): void {
    if (speakers.get(this.#inbox as Inbox) === this) this.#announce(this.#texts.arrived(this.#titleOf(notification)))
    if (matchMedia('(prefers-reduced-motion: no-preference)').matches)
      this.#bell?.firstElementChild?.animate({ rotate: ['0deg', '14deg', '-11deg', '6deg', '0deg'] }, 700)
    this.dispatchEvent(new CustomEvent('bellwire-arrival', { detail: notification, bubbles: true, composed: true }))
  }

  #announce(text: string): void {
    // Screen readers speak only a text that changes.
    this.#announcement = text === this.#announcement ? `${text}\u00a0` : text
    this.requestUpdate()
  }

  /** The user sees the list. One request at a time. */
  async #markSeen(): Promise<void> {
    if (this.#markingSeen) return
    this.#markingSeen = true
    let nextMs = 0
    await this.#inbox?.markAll('seen').catch(() => {
      nextMs = timesMs
    })
    setTimeout(() => {
      this.#markingSeen = false
      this.requestUpdate()
    }, nextMs)
  }

  async #mark(as: Mark, ids: readonly string[] | 'all'): Promise<void> {
    try {
      if (ids === 'all') await this.#inbox?.markAll(as)
      else await this.#inbox?.mark(as, ids)
    } catch {
      this.#announce(this.#texts.notSaved)
    }
  }

  #titleOf({ title, body }: InboxNotification): string {
    return [title, body].find(isVisible) ?? this.#texts.untitled
  }

  protected override render(): TemplateResult {
    const live = html`<p class="spoken" role="status">${this.#announcement}</p>`
    if (this.view === 'list')
      return html`<section part="panel" class="panel" aria-labelledby="title" tabindex="-1">${this.#content()}</section>${live}`
    const count = this.#state[this.count]
    return html`
      <button part="bell" class="bell" type="button" popovertarget="panel" aria-haspopup="dialog" aria-expanded=${this.#open} aria-label=${this.#texts.bell(count)}>
        ${bellIcon}${count > 0 ? html`<span part="badge" class="badge" aria-hidden="true">${count > 99 ? '99+' : count}</span>` : nothing}
      </button>
      <div part="panel" class="panel" id="panel" popover role="dialog" aria-labelledby="title" tabindex="-1" @toggle=${this.#toggled}>
        ${this.#content()}
      </div>
      ${live}`
  }

  #content(): TemplateResult {
    const { status, listed, items, unread } = this.#state
    const texts = this.#texts
    return html`
      <div part="header" class="header">
        <h2 part="title" class="title" id="title">${texts.title}</h2>
        ${unread > 0 ? html`<button part="read-all" class="quiet" type="button" @click=${this.#readAll}>${texts.readAll}</button>` : nothing}
        ${this.view === 'list' ? nothing : html`<button part="close" class="icon-button" type="button" popovertarget="panel" popovertargetaction="hide" aria-label=${texts.close}>${closeIcon}</button>`}
      </div>
      ${status === 'offline' && listed ? html`<p part="banner" class="banner">${offlineIcon}<span>${texts.offline}. ${texts.offlineHint}</span></p>` : nothing}
      <div part="body" class="body" aria-busy=${!listed && status === 'loading'}>
        ${items.length > 0 ? this.#list(items) : this.#instead()}
      </div>`
  }

  #list(items: readonly InboxNotification[]): TemplateResult {
    const now = Date.now()
    const context = {
      texts: this.#texts,
      now,
      locale: this.#locale,
      titleOf: (item: InboxNotification) => this.#titleOf(item),
      open: (item: InboxNotification, event: Event) => this.#openItem(item, event),
      dismiss: (item: InboxNotification) => void this.#dismiss(item),
    }
    return html`
      <ul part="list" class="list" role="list" @keydown=${this.#moveFocus}>${repeat(items, idOf, (item) => notificationItem(item, context))}</ul>
      ${this.#state.more ? html`<button part="older" class="older" type="button" @click=${this.#loadMore}>${this.#texts.older}</button>` : nothing}`
  }

  /** Shown instead of an empty list. */
  #instead(): TemplateResult {
    const { status, listed } = this.#state
    const texts = this.#texts
    if (status === 'closed') return notice('closed', silentIcon, texts.closed, texts.closedHint)
    if (status === 'offline' && !listed) return notice('offline', offlineIcon, texts.offline, texts.offlineHint)
    if (!listed && status === 'loading')
      return html`<p class="spoken">${texts.loading}</p>${skeletons.map(() => html`<div part="skeleton" class="skeleton"><i></i><b></b><b></b></div>`)}`
    return notice('empty', checkIcon, texts.empty, texts.emptyHint)
  }

  #toggled = (event: ToggleEvent): void => {
    this.#open = event.newState === 'open'
    this.requestUpdate()
    if (!this.#open) {
      // The focus was in the panel.
      if (document.activeElement === document.body || document.activeElement === this) this.#bell?.focus()
      return
    }
    this.#place()
    this.#panel?.focus({ preventScroll: true })
  }

  #place = (): void => {
    if (this.#open && this.#bell && this.#panel) placePanel(this.#panel, this.#bell)
  }

  /** Marks the notifications in view as seen, and computes the times again. */
  #shownAgain = (): void => this.requestUpdate()

  get #bell(): HTMLElement | null {
    return this.renderRoot.querySelector('.bell')
  }

  get #panel(): HTMLElement | null {
    return this.renderRoot.querySelector('.panel')
  }

  #openItem(item: InboxNotification, event: Event): void {
    const opened = new CustomEvent('bellwire-open', { detail: item, bubbles: true, composed: true, cancelable: true })
    if (!this.dispatchEvent(opened)) event.preventDefault()
    const leaves = safeUrl(item.url, document.baseURI) !== undefined
    if (leaves && this.view !== 'list') this.#panel?.hidePopover()
    void this.#mark(leaves ? 'clicked' : 'read', [item.site_notification_id])
  }

  async #dismiss(item: InboxNotification): Promise<void> {
    const rows = this.#rows
    const at = rows.findIndex((row) => row.dataset.id === item.site_notification_id)
    const neighbour = rows[at + 1] ?? rows[at - 1]
    // The button is removed with its item, so the focus goes on.
    ;(neighbour?.querySelector<HTMLElement>('.link') ?? this.#panel)?.focus()
    await this.#mark('dismissed', [item.site_notification_id])
  }

  get #rows(): HTMLElement[] {
    return [...this.renderRoot.querySelectorAll<HTMLElement>('.item')]
  }

  #readAll = (): void => {
    // The button disappears.
    this.#panel?.focus({ preventScroll: true })
    void this.#mark('read', 'all')
  }

  #loadMore = (): void => {
    this.#inbox?.loadMore().catch(() => {})
  }

  /** Arrows, Home and End move between the notifications; Delete removes one. */
  #moveFocus = (event: KeyboardEvent): void => {
    const rows = this.#rows
    const at = rows.findIndex((row) => row.contains(event.target as Node))
    const target = { ArrowDown: rows[at + 1], ArrowUp: rows[at - 1], Home: rows[0], End: rows.at(-1) }[event.key]
    if (event.key === 'Delete') rows[at]?.querySelector<HTMLElement>('.dismiss')?.click()
    else if (target) target.querySelector<HTMLElement>('.link')?.focus()
    else return
    event.preventDefault()
  }
}

const idOf = (item: InboxNotification): string => item.site_notification_id

function notice(part: string, icon: TemplateResult, title: string, hint: string): TemplateResult {
  return html`<div part=${part} class="notice"><span class="notice-icon">${icon}</span><p class="notice-title">${title}</p><p class="notice-hint">${hint}</p></div>`
}

async function fetchToken(url: string): Promise<string | null> {
  const response = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(20_000) }).catch(() => {
    throw new Error(`token-url ${url} did not answer`)
  })
  // Nobody is signed in.
  if (response.status === 401 || response.status === 403) return null
  if (!response.ok) throw new Error(`token-url ${url} answered ${response.status}`)
  const answer = (await response.json().catch(() => undefined)) as { token?: string | null } | null | undefined
  if (answer?.token === undefined)
    throw new Error(`token-url ${url} did not answer {"token": …}: answer 401 if nobody is signed in, not a page`)
  return answer.token
}
