import { appendFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { warns } from '../../base/runtime/check.ts'
import { makeFolder } from '../../base/runtime/make-folder.ts'
import type { Message, Provider } from './provider.ts'

export interface Recording extends Provider {
  /** The messages accepted last, oldest first: at most 1,000. */
  readonly last: readonly Message[]
}

const mostKept = 1_000

/**
 * A provider that accepts all messages and sends none. It records them, to show the messages that would be sent.
 *
 * @param file each message is appended to this file as a line of JSON before it is accepted
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
      if (last.length > mostKept) last.splice(0, last.length - mostKept)
      return messages.map(({ ref }) => ({ category: 'successful', ref, rule: 'recorded' }))
    },
    check: async () => [
      warns(
        `messages are ${file === undefined ? 'dropped' : `written to ${file}`} instead of being sent`,
        'configure a push service: docs/push.md lists them',
      ),
    ],
  }
}

function line({ ref, attempt, brand, userId, id, text }: Message): string {
  return `${JSON.stringify({ ref, attempt, brand, user_id: userId, id, text })}\n`
}

/** Appends lines to a file, and creates its folder if that is missing. */
async function append(file: string, lines: string): Promise<void> {
  try {
    await appendFile(file, lines, { mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    makeFolder(dirname(file))
    await appendFile(file, lines, { mode: 0o600 })
  }
}
