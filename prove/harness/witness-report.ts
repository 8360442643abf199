// Counts the calls that the witness has recorded. Pure, except for reading the file.

import { readFile } from 'node:fs/promises'
import { nameOf } from './records.ts'

/** One message of one call to the provider. */
export interface WitnessedMessage {
  readonly call: number
  /** The process that made the call. */
  readonly pid: number
  readonly ref: string
  readonly id: string
  readonly brand: string
  readonly user: string
}

export interface WitnessReport {
  /** The calls with each message, in order. The key is brand, id and user. */
  readonly messages: ReadonlyMap<string, readonly WitnessedMessage[]>
  readonly calls: number
  /** The number of calls after the first call of each message. */
  readonly secondCalls: number
}

export async function readWitnessReport(file: string): Promise<WitnessReport> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
  return createWitnessReport(lines.map((line) => JSON.parse(line) as WitnessedMessage))
}

export function createWitnessReport(seen: readonly WitnessedMessage[]): WitnessReport {
  const messages = Map.groupBy(seen, nameOf)
  return { messages, calls: new Set(seen.map(({ call }) => call)).size, secondCalls: seen.length - messages.size }
}

/** Finds messages with several identifiers, and identifiers of several messages. */
export function findIdentifierConflicts({ messages }: WitnessReport): readonly string[] {
  const owners = new Map<string, string>()
  const wrong: string[] = []
  for (const [name, seen] of messages) {
    for (const { ref } of seen) {
      if (ref !== seen[0]?.ref) wrong.push(`${name} had the identifiers ${seen[0]?.ref} and ${ref}`)
      const owner = owners.get(ref)
      if (owner !== undefined && owner !== name) wrong.push(`${ref} is the identifier of ${owner} and ${name}`)
      owners.set(ref, name)
    }
  }
  return wrong
}

/** Finds second calls without a cause: the process of the previous call was not struck, so its answer was not lost. */
export function findNeedlessCalls({ messages }: WitnessReport, struck: ReadonlySet<number>): readonly string[] {
  return [...messages].flatMap(([name, seen]) =>
    seen.slice(1).flatMap((_, i) => {
      const { pid } = seen[i] as WitnessedMessage
      return struck.has(pid) ? [] : [`${name}: called again after call ${i + 1}, whose process ${pid} was not struck`]
    }),
  )
}
