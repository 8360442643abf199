// Finds messages on both sides, and reads what each side stores about them.

import { present } from '../../../base/runtime/present.ts'
import { readMessageKey } from '../../../contract/message-key.ts'
import type { AnswerOf } from '../../../sides/admin/calls.ts'
import { composeLife, type Life } from '../../../sides/admin/message-life.ts'
import type { Sides } from './sides.ts'

type PlatformRow = AnswerOf<'platform', 'GET /admin/messages'>['messages'][number]
type OperatorRow = AnswerOf<'operator', 'GET /admin/messages'>['messages'][number]

export type Search =
  | { readonly by: 'ref' | 'id'; readonly value: string }
  | { readonly by: 'user'; readonly brand: string; readonly value: string }

/** A message, with its rows on the sides that have it. */
export interface Match {
  readonly brand: string
  readonly key: string
  readonly platform?: PlatformRow
  readonly operator?: OperatorRow
}

export interface Found {
  readonly search: Search
  /** The newest first. */
  readonly matches: readonly Match[]
  /** A side has further messages. */
  readonly more: boolean
}

const maxListed = 1_000

/** The result of the first search that finds a message. */
export async function findMessages(sides: Sides, searches: readonly Search[]): Promise<Found | undefined> {
  for (const search of searches) {
    const found = await list(sides, search)
    if (found.matches.length > 0) return { search, ...found }
  }
  return undefined
}

async function list({ platform, operator }: Sides, search: Search): Promise<Omit<Found, 'search'>> {
  const { by, value } = search
  const query = by === 'user' ? { brand: search.brand, user_id: value, limit: maxListed } : { [by]: value }
  const [atPlatform, atOperator] = await Promise.all([
    platform?.call('GET /admin/messages', { query }),
    operator?.call('GET /admin/messages', { query }),
  ])
  const matches = [
    ...(atPlatform?.messages ?? []).map((row) => ({ brand: brandOf(row), key: row.key, platform: row })),
    ...(atOperator?.messages ?? []).map((row) => ({ brand: row.brand, key: row.key, operator: row })),
  ]
  return { matches: merge(matches), more: (atPlatform?.next ?? atOperator?.next) !== undefined }
}

/** The name of a lane begins with the brand (row 31). */
const brandOf = ({ lane }: PlatformRow): string => lane.split('/')[0] as string

/** Joins the rows of the same message, and sorts the newest first. */
function merge(matches: readonly Match[]): readonly Match[] {
  const merged = new Map<string, Match>()
  for (const match of matches) {
    const name = `${match.brand} ${match.key}`
    merged.set(name, { ...merged.get(name), ...match })
  }
  return [...merged.values()].sort((a, b) => timeOf(b) - timeOf(a))
}

export const timeOf = ({ platform, operator }: Match): number => platform?.enqueued_at ?? operator?.updated_at ?? 0

/** Reads the whole life of a message from all sides. */
export async function readLife(sides: Sides, match: Match): Promise<Life> {
  const { platform, operator } = await findOnOtherSide(sides, match)
  const [atPlatform, atOperator] = await Promise.all([
    platform && sides.platform?.call('GET /admin/messages/:seq', { params: { seq: platform.seq } }),
    operator && sides.operator?.call('GET /admin/messages/:ref', { params: { ref: operator.ref } }),
  ])
  return composeLife(match, present({ platform: atPlatform, operator: atOperator }))
}

/** Until a message is settled, only the operator knows its identifier. */
async function findOnOtherSide({ platform, operator }: Sides, match: Match): Promise<Match> {
  const missing = { ...(!match.platform && { platform }), ...(!match.operator && { operator }) }
  const { matches } = await list(missing, { by: 'id', value: readMessageKey(match.key).id })
  return merge([match, ...matches.filter(({ brand, key }) => brand === match.brand && key === match.key)])[0] as Match
}
