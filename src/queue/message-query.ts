// The query of GET /admin/messages, on both sides: by one name of a message, or by its user, page by page.

import { Type } from 'typebox'
import { brandNumber, limitOf, text } from '../contract/documents/described.ts'
import type { AccessKey } from '../http/access.ts'
import { HttpError } from '../http/http-error.ts'

const mostListed = 1_000

/** The parameters that both sides have. Each side adds `before`, and further names of a message. */
export const messageQuery = {
  id: Type.Optional(text('activity.id.')),
  brand: Type.Optional(brandNumber('The number of the brand, together with user_id.')),
  user_id: Type.Optional(text('The user of the messages, newest first.')),
  limit: Type.Optional(limitOf(mostListed)),
}
export const beforeSays = 'The `next` of the page before.'

/** The messages of a user. */
export interface UserPage<Place> {
  readonly brand: string
  readonly userId: string
  readonly before: Place | undefined
  readonly limit: number
}

interface Query<Place> {
  readonly id?: string
  readonly ref?: string
  readonly brand?: string
  readonly user_id?: string
  readonly before?: Place
  readonly limit?: number
}

/**
 * Reads the query. A parameter of another search is refused: the result would not be what the caller asked for.
 *
 * @param names how one message may be named
 * @throws HttpError 400, or 403 for a brand that is not the key's
 * @example readMessageQuery({ id: '7' }, key, ['id']) // { name: 'id', value: '7' }
 */
export function readMessageQuery<Name extends 'ref' | 'id', Place>(
  query: Query<Place>,
  key: AccessKey,
  names: readonly Name[],
): { readonly name: Name; readonly value: string } | UserPage<Place> {
  const { brand, user_id: userId, before, limit = 100 } = query
  const [name, ...more] = names.filter((each) => query[each] !== undefined)
  if (name !== undefined && more.length === 0) {
    const other = Object.keys(query).find((each) => each !== name)
    if (other !== undefined)
      throw new HttpError(400, `${other} goes with brand and user_id: leave it out beside ${name}`)
    return { name, value: query[name] as string }
  }
  if (name !== undefined || brand === undefined || userId === undefined)
    throw new HttpError(400, `say which messages: send ${[...names, 'or brand and user_id'].join(', ')}`)
  if (key.brands?.includes(brand) === false)
    throw new HttpError(
      403,
      `the key ${key.name} may not see brand ${brand}: add it to its brands in the configuration`,
    )
  return { brand, userId, before, limit }
}

/** A page, and where the next one begins; absent: there is none. */
export function pageOf<Row>(messages: readonly Row[], { limit }: UserPage<unknown>, placeOf: (row: Row) => string) {
  const last = messages.at(-1)
  return { messages, ...(last !== undefined && messages.length === limit && { next: placeOf(last) }) }
}
