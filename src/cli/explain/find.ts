// Finds messages on both sides, and reads what each side stores about them.

import { readMessageKey } from '../../contract/message-key.ts'
import type { AskedSide, OperatorMessage, OperatorRow, PlatformMessage, PlatformRow } from './answers.ts'
import { composeLife, type Life } from './steps.ts'

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
export async function findMessages(
  sides: readonly AskedSide[],
  searches: readonly Search[],
): Promise<Found | undefined> {
  for (const search of searches) {
    const pages = await Promise.all(sides.map((side) => list(side, search)))
    const matches = merge(pages.flatMap(({ matches }) => matches))
    if (matches.length > 0) return { search, matches, more: pages.some(({ next }) => next !== undefined) }
  }
  return undefined
}

async function list(side: AskedSide, search: Search): Promise<{ matches: readonly Match[]; next?: string }> {
  const query =
    search.by === 'user'
      ? { brand: search.brand, user_id: search.value, limit: String(maxListed) }
      : { [search.by]: search.value }
  const answer = await side.get(`/admin/messages?${new URLSearchParams(query)}`)
  if (side.name === 'platform') {
    const { messages, ...page } = answer as { messages: readonly PlatformRow[]; next?: string }
    return { ...page, matches: messages.map((row) => ({ brand: brandOf(row), key: row.key, platform: row })) }
  }
  const { messages, ...page } = answer as { messages: readonly OperatorRow[]; next?: string }
  return { ...page, matches: messages.map((row) => ({ brand: row.brand, key: row.key, operator: row })) }
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
export async function readLife(sides: readonly AskedSide[], match: Match): Promise<Life> {
  const { platform, operator } = await findOnOtherSide(sides, match)
  const [atPlatform, atOperator] = await Promise.all([
    platform && (readDetails(sides, 'platform', String(platform.seq)) as Promise<PlatformMessage>),
    operator && (readDetails(sides, 'operator', operator.ref) as Promise<OperatorMessage>),
  ])
  return composeLife(match, {
    ...(atPlatform && { platform: atPlatform }),
    ...(atOperator && { operator: atOperator }),
  })
}

/** Until a message is settled, only the operator knows its identifier. */
async function findOnOtherSide(sides: readonly AskedSide[], match: Match): Promise<Match> {
  const missing = sides.filter(({ name }) => match[name] === undefined)
  const { id } = readMessageKey(match.key)
  const pages = await Promise.all(missing.map((side) => list(side, { by: 'id', value: id })))
  const found = pages.flatMap(({ matches }) => matches)
  return merge([match, ...found.filter(({ brand, key }) => brand === match.brand && key === match.key)])[0] as Match
}

async function readDetails(sides: readonly AskedSide[], name: AskedSide['name'], id: string): Promise<unknown> {
  const side = sides.find((each) => each.name === name) as AskedSide
  return side.get(`/admin/messages/${encodeURIComponent(id)}`)
}
