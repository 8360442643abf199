import { appendFile, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Message, Provider } from './provider.ts'

export interface Recording extends Provider {
  /** The last messages it accepted, oldest first. */
  readonly last: readonly Message[]
}

const kept = 1_000

/**
 * A provider that accepts everything and writes it down: to try things out, and to see what would be sent.
 *
 * @param file every message is appended to it as a line of JSON before it is accepted
 * @example recording({ file: './pushes.ndjson' })
 */
export function recording({ file }: { readonly file?: string } = {}): Recording {
  const last: Message[] = []
  return {
    name: 'recording',
    max: 1_000,
    last,
    async send(messages) {
      if (file !== undefined) await append(file, messages.map(line).join(''))
      last.push(...messages)
      if (last.length > kept) last.splice(0, last.length - kept)
      return messages.map(({ ref }) => ({ category: 'successful', ref, rule: 'recorded' }))
    },
    check: async () => [
      {
        ok: true,
        warning: true,
        what: `messages are ${file === undefined ? 'dropped' : `written to ${file}`} instead of being sent`,
        remedy: 'docs/push.md shows the push services there are',
      },
    ],
  }
}

function line({ ref, attempt, brand, userId, id, text }: Message): string {
  return `${JSON.stringify({ ref, attempt, brand, user_id: userId, id, text })}\n`
}

/** The folder is made with the first line. */
async function append(file: string, lines: string): Promise<void> {
  try {
    await appendFile(file, lines)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    await mkdir(dirname(file), { recursive: true })
    await appendFile(file, lines)
  }
}
