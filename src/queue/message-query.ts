// The query of GET /admin/messages on both sides: by one identifier of a message, or by user, page by page.

import { brandNumber, limitOf } from '../contract/documents/described.ts'
import { isIntegerText } from '../contract/ids.ts'
import { shown } from '../contract/shown.ts'
import type { AccessKey } from '../http/access.ts'
import { wholeNumber } from '../http/admin-access.ts'
import { HttpError } from '../http/http-error.ts'

const maxListed = 1_000

/** The parameters for the OpenAPI document. */
export const messageQuery = {
  id: 'activity.id.',
  brand: brandNumber('The number of the brand; requires user_id.'),
  user_id: 'The user of the messages; requires brand. The newest messages come first.',
  before: 'The `next` of the previous page.',
  limit: limitOf(maxListed),
} as const

/** A page of the messages of one user. */
export interface UserPage {
  readonly brand: string
  readonly userId: string
  readonly before: string | undefined
  readonly limit: number
}

/**
 * Reads the query. It rejects unknown parameters and parameters of the other search, because it would have to ignore them.
 *
 * @param names the parameters that identify one message
 * @throws HttpError 400, or 403 for a brand that is not a brand of the key
 * @example readMessageQuery({ id: '7' }, key, ['id']) // { name: 'id', value: '7' }
 */
export function readMessageQuery<Name extends string>(
  given: Readonly<Record<string, string>>,
  key: AccessKey,
  names: readonly Name[],
): { readonly name: Name; readonly value: string } | UserPage {
  const allowed = [...names, 'brand', 'user_id', 'before', 'limit']
  for (const name of Object.keys(given))
    if (!allowed.includes(name))
      throw new HttpError(400, `${name} is not a parameter of this search: use ${allowed.join(', ')}`)
  const { brand, user_id: userId, before, limit, ...rest } = given
  const [name, ...more] = names.filter((each) => each in rest)
  if (name !== undefined && more.length === 0) {
    const other = Object.keys(given).find((each) => each !== name)
    if (other !== undefined)
      throw new HttpError(400, `${other} cannot be combined with ${name}: leave it out, or search by brand and user_id`)
    return { name, value: rest[name] as string }
  }
  if (name !== undefined || brand === undefined || userId === undefined)
    throw new HttpError(400, `no message is selected: send ${[...names, 'or brand and user_id'].join(', ')}`)
  if (!isIntegerText(brand)) throw new HttpError(400, `brand is ${shown(brand)}, but must be the number of a brand`)
  if (key.brands?.includes(brand) === false)
    throw new HttpError(
      403,
      `the key ${key.name} may not see brand ${brand}: add it to its brands in the configuration`,
    )
  return { brand, userId, before, limit: Math.min(wholeNumber('limit', limit, 100, 1), maxListed) }
}

/** A page of the answer. `next` is absent if there is no next page. */
export function pageOf<Row>(messages: readonly Row[], { limit }: UserPage, cursorOf: (row: Row) => string) {
  const last = messages.at(-1)
  return { messages, ...(last !== undefined && messages.length === limit && { next: cursorOf(last) }) }
}
