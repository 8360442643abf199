import { html, nothing, type TemplateResult } from 'lit'
import { bellIcon, closeIcon } from './icons.ts'
import { safeImageUrl, safeUrl } from './safe-url.ts'
import type { InboxTexts } from './texts.ts'
import { fullTimeText, timeText } from './time-text.ts'
import type { InboxNotification } from './types.ts'
import { isVisible } from './visible-text.ts'

export interface ItemContext {
  readonly texts: InboxTexts
  readonly now: number
  readonly locale: string | undefined
  titleOf(item: InboxNotification): string
  open(item: InboxNotification, event: Event): void
  dismiss(item: InboxNotification): void
}

/** One notification: a link if it has a safe URL, else a button. Its texts are only ever set as text. */
export function notificationItem(item: InboxNotification, context: ItemContext): TemplateResult {
  const { site_notification_id: id, body, read_at, created_at } = item
  const { texts, now, locale } = context
  const name = context.titleOf(item)
  const href = safeUrl(item.url, document.baseURI)
  const image = safeImageUrl(item.image_url, document.baseURI)
  const at = new Date(created_at)
  const open = (event: Event): void => context.open(item, event)
  const auxiliary = (event: MouseEvent): void => void (event.button === 1 && open(event))
  const content = html`
    <span part="image" class="image">
      ${bellIcon}${image ? html`<img src=${image} alt="" loading="lazy" referrerpolicy="no-referrer" @error=${hide} />` : nothing}
    </span>
    <span class="text">
      <span part="item-title" class="item-title" dir="auto">${name}</span>
      ${isVisible(body) && body !== name ? html`<span part="item-body" class="item-body" dir="auto">${body}</span>` : nothing}
      <time part="time" class="time" datetime=${created_at} title=${fullTimeText(at, locale)}>${timeText(at, now, locale)}</time>
      ${read_at === null ? html`<span class="spoken">${texts.unread}</span>` : nothing}
    </span>`
  return html`
    <li part="item ${read_at === null ? 'unread' : 'read'}" class="item ${read_at === null ? 'unread' : ''}" data-id=${id}>
      ${
        href
          ? html`<a part="link" class="link" href=${href} @click=${open} @auxclick=${auxiliary}>${content}</a>`
          : html`<button part="link" class="link" type="button" @click=${open}>${content}</button>`
      }
      <button part="dismiss" class="icon-button dismiss" type="button" aria-label=${texts.dismiss(name)} @click=${() => context.dismiss(item)}>${closeIcon}</button>
    </li>`
}

function hide(event: Event): void {
  ;(event.target as HTMLElement).hidden = true
}
