// The query of GET /admin/messages on both sides: by one identifier of a message, or by user, page by page.

import { Type } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { brandNumber, limitOf, text } from '../../contract/documents/described.ts'
import { demandVisible } from './visibility.ts'

const maxListed = 1_000

/** The parameters of both sides. Each side adds `before`, and further identifiers of a message. */
export const messageQuery = {
  id: Type.Optional(text('activity.id.')),
  brand: Type.Optional(brandNumber('The number of the brand; requires user_id.')),
  user_id: Type.Optional(text('The user of the messages; requires brand. The newest messages come first.')),
  limit: Type.Optional(limitOf(maxListed)),
}
export const beforeDescription = 'The `next` of the previous page.'

/** A page of the messages of one user. */
export interface UserPage<Cursor> {
  readonly brand: string
  readonly userId: string
  readonly before: Cursor | undefined
  readonly limit: number
}

interface Query<Cursor> {
  readonly id?: string
  readonly ref?: string
  readonly brand?: string
  readonly user_id?: string
  readonly before?: Cursor
  readonly limit?: number
}

/**
 * Reads the query. It rejects parameters of the other search, because it would have to ignore them.
 *
 * @param names the parameters that identify one message
 * @throws HttpError 400, or 403 for a brand that is not a brand of the key
 * @example readMessageQuery({ id: '7' }, key, ['id']) // { name: 'id', value: '7' }
 */
export function readMessageQuery<Name extends 'ref' | 'id', Cursor>(
  query: Query<Cursor>,
  key: AccessKey,
  names: readonly Name[],
): { readonly name: Name; readonly value: string } | UserPage<Cursor> {
  const { brand, user_id: userId, before, limit = 100 } = query
  const [name, ...more] = names.filter((each) => query[each] !== undefined)
  if (name !== undefined && more.length === 0) {
    const other = Object.keys(query).find((each) => each !== name)
    if (other !== undefined)
      throw new HttpError(400, `${other} cannot be combined with ${name}: leave it out, or search by brand and user_id`)
    return { name, value: query[name] as string }
  }
  if (name !== undefined || brand === undefined || userId === undefined)
    throw new HttpError(400, `no message is selected: send ${[...names, 'or brand and user_id'].join(', ')}`)
  demandVisible(key, brand)
  return { brand, userId, before, limit }
}

/** A page of the answer. `next` is absent if there is no next page. */
export function pageOf<Row>(messages: readonly Row[], { limit }: UserPage<unknown>, cursorOf: (row: Row) => string) {
  const last = messages.at(-1)
  return { messages, ...(last !== undefined && messages.length === limit && { next: cursorOf(last) }) }
}
