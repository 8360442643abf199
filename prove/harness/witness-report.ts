// What the witness saw, counted. Pure but for the reading of the file.

import { readFile } from 'node:fs/promises'
import { nameOf } from './records.ts'

/** One message in one call to the provider. */
export interface Seen {
  readonly call: number
  /** The process that made the call. */
  readonly pid: number
  readonly ref: string
  readonly id: string
  readonly brand: string
  readonly user: string
}

export interface Testimony {
  /** By brand, id and user: every call that carried the message, in order. */
  readonly messages: ReadonlyMap<string, readonly Seen[]>
  readonly calls: number
  /** Calls beyond the first one for the same message. */
  readonly secondCalls: number
}

export async function readTestimony(file: string): Promise<Testimony> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
  return testimonyOf(lines.map((line) => JSON.parse(line) as Seen))
}

export function testimonyOf(seen: readonly Seen[]): Testimony {
  const messages = Map.groupBy(seen, nameOf)
  return { messages, calls: new Set(seen.map(({ call }) => call)).size, secondCalls: seen.length - messages.size }
}

/** Messages that reached the provider under more than one identifier, or identifiers that stood for more than one message. */
export function confused({ messages }: Testimony): readonly string[] {
  const owners = new Map<string, string>()
  const wrong: string[] = []
  for (const [name, seen] of messages) {
    for (const { ref } of seen) {
      if (ref !== seen[0]?.ref) wrong.push(`${name} had the identifiers ${seen[0]?.ref} and ${ref}`)
      const owner = owners.get(ref)
      if (owner !== undefined && owner !== name) wrong.push(`${ref} stood for ${owner} and ${name}`)
      owners.set(ref, name)
    }
  }
  return wrong
}

/** Second calls for which the process of the call before was not struck: its answer was not lost, so they should not be. */
export function needless({ messages }: Testimony, struck: ReadonlySet<number>): readonly string[] {
  return [...messages].flatMap(([name, seen]) =>
    seen.slice(1).flatMap((_, i) => {
      const { pid } = seen[i] as Seen
      return struck.has(pid) ? [] : [`${name}: called again after call ${i + 1}, whose process ${pid} lived on`]
    }),
  )
}
