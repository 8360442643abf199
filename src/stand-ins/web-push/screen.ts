import { objectIn } from '../../runtime/json.ts'
import { allTexts, onlyTexts } from '../fields.ts'
import type { Kept, Shown } from '../stand-in.ts'

/** What a device shows. One with the tag of one that is shown takes its place. */
export interface Screen {
  readonly shown: readonly Shown[]
  show(text: string, at: number, replaced: number): Shown
}

/**
 * Shows messages as a site's service worker does that reads JSON with title, body, image, url, data, and tags by push_id. Any other text is
 * the body.
 */
export function createScreen(): Screen {
  const shown: Shown[] = []
  return {
    shown,
    show(text, at, replaced) {
      const content = readContent(text)
      const before = shown.findIndex(({ tag }) => tag !== undefined && tag === content.tag)
      const [old] = before === -1 ? [] : shown.splice(before, 1)
      const fresh = { ...content, at, replaced: replaced + (old ? old.replaced + 1 : 0) }
      shown.push(fresh)
      return fresh
    },
  }
}

/** What a message says, however it is written. */
export function readContent(text: string): Kept {
  const value = objectIn(text)
  if (value === undefined) return { body: text, data: {} }
  const { push_id: tag, title, body, image, url, data } = value
  return {
    ...onlyTexts({ title, body, image, url, tag }),
    data: allTexts(typeof data === 'object' && data !== null ? data : {}),
  }
}
