// The query of GET /admin/messages, on both sides: by one name of a message, or by its user, page by page.

import { brandNumber, limitOf } from '../contract/documents/described.ts'
import { isIntegerText } from '../contract/ids.ts'
import { shown } from '../contract/shown.ts'
import type { AccessKey } from '../http/access.ts'
import { wholeNumber } from '../http/admin-access.ts'
import { HttpError } from '../http/http-error.ts'

const mostListed = 1_000

/** As parameters of the document. */
export const messageQuery = {
  id: 'activity.id.',
  brand: brandNumber('The number of the brand, together with user_id.'),
  user_id: 'The user of the messages, newest first.',
  before: 'The `next` of the page before.',
  limit: limitOf(mostListed),
} as const

/** The messages of a user. */
export interface UserPage {
  readonly brand: string
  readonly userId: string
  readonly before: string | undefined
  readonly limit: number
}

/**
 * Reads the query. An unknown parameter, or one of another search, is refused: the result would not be what the caller asked for.
 *
 * @param names how one message may be named
 * @throws HttpError 400, or 403 for a brand that is not the key's
 * @example readMessageQuery({ id: '7' }, key, ['id']) // { name: 'id', value: '7' }
 */
export function readMessageQuery<Name extends string>(
  given: Readonly<Record<string, string>>,
  key: AccessKey,
  names: readonly Name[],
): { readonly name: Name; readonly value: string } | UserPage {
  const allowed = [...names, 'brand', 'user_id', 'before', 'limit']
  for (const name of Object.keys(given))
    if (!allowed.includes(name)) throw new HttpError(400, `${name} is not known here: use ${allowed.join(', ')}`)
  const { brand, user_id: userId, before, limit, ...rest } = given
  const [name, ...more] = names.filter((each) => each in rest)
  if (name !== undefined && more.length === 0) {
    const other = Object.keys(given).find((each) => each !== name)
    if (other !== undefined)
      throw new HttpError(400, `${other} goes with brand and user_id: leave it out beside ${name}`)
    return { name, value: rest[name] as string }
  }
  if (name !== undefined || brand === undefined || userId === undefined)
    throw new HttpError(400, `say which messages: send ${[...names, 'or brand and user_id'].join(', ')}`)
  if (!isIntegerText(brand)) throw new HttpError(400, `${shown(brand)} is not the number of a brand`)
  if (key.brands?.includes(brand) === false)
    throw new HttpError(
      403,
      `the key ${key.name} may not see brand ${brand}: add it to its brands in the configuration`,
    )
  return { brand, userId, before, limit: Math.min(wholeNumber('limit', limit, 100, 1), mostListed) }
}

/** A page, and where the next one begins; absent: there is none. */
export function pageOf<Row>(messages: readonly Row[], { limit }: UserPage, placeOf: (row: Row) => string) {
  const last = messages.at(-1)
  return { messages, ...(last !== undefined && messages.length === limit && { next: placeOf(last) }) }
}
