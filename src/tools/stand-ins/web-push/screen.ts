import { objectIn } from '../../../base/runtime/json.ts'
import { allTexts, onlyTexts } from '../fields.ts'
import type { PendingNotification, ShownNotification } from '../stand-in.ts'

/** The notifications that a device shows. A notification replaces an earlier one with the same tag. */
export interface Screen {
  readonly shown: readonly ShownNotification[]
  show(text: string, at: number, replaced: number): ShownNotification
}

/**
 * Shows messages like a site's service worker: the payload is JSON with title, body, image, url and data, and the tag is push_id.
 * Any other text is the body.
 */
export function createScreen(): Screen {
  const shown: ShownNotification[] = []
  return {
    shown,
    show(text, at, replaced) {
      const content = readContent(text)
      const index = shown.findIndex(({ tag }) => tag !== undefined && tag === content.tag)
      const [previous] = index === -1 ? [] : shown.splice(index, 1)
      const notification = { ...content, at, replaced: replaced + (previous ? previous.replaced + 1 : 0) }
      shown.push(notification)
      return notification
    },
  }
}

/** Reads the content of a message: JSON members, or else the text as the body. */
export function readContent(text: string): PendingNotification {
  const value = objectIn(text)
  if (value === undefined) return { body: text, data: {} }
  const { push_id: tag, title, body, image, url, data } = value
  return {
    ...onlyTexts({ title, body, image, url, tag }),
    data: allTexts(typeof data === 'object' && data !== null ? data : {}),
  }
}
