import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeFolder } from '../../../base/runtime/make-folder.ts'
import type { Enqueued } from '../../checker/platform/lane.ts'
import { ask } from '../confirm.ts'
import { refuseWith } from '../exit.ts'
import { runShell } from './shell.ts'

export interface EnqueueOptions {
  readonly enqueueCommand?: string
  readonly folder?: string
}

/**
 * Writes the file of a step, and has it enqueued by the command, or by the person at the terminal.
 *
 * @param prepareTerminal called before a question
 */
export function enqueuer(
  { enqueueCommand, folder }: EnqueueOptions,
  prepareTerminal: () => void,
): (file: Enqueued) => Promise<void> {
  let made: Promise<string> | undefined
  let step = 0
  let turn: Promise<unknown> = Promise.resolve()

  async function enqueue({ channel, name, records }: Enqueued): Promise<void> {
    made ??= folderAt(folder).catch(refuseWith('--folder cannot be written'))
    const file = join(await made, `${String(++step).padStart(2, '0')}-${name}.ndjson`)
    await writeFile(file, records.map(({ text }) => `${text}\n`).join(''), { mode: 0o600 })
    if (enqueueCommand !== undefined) {
      await runShell('enqueue', enqueueCommand, { FILE: file, CHANNEL: channel })
      return
    }
    prepareTerminal()
    const words = channel === 'push' ? 'push notifications' : 'on-site notifications'
    await ask(`Enqueue the ${records.length} records of ${file} as ${words}, and press Enter: `)
  }

  // The channels are checked at the same time. One command runs, and one question is asked, at a time.
  return (file) => {
    const enqueued = turn.then(() => enqueue(file))
    turn = enqueued.catch(() => {})
    return enqueued
  }
}

async function folderAt(path: string | undefined): Promise<string> {
  if (path === undefined) return mkdtemp(join(tmpdir(), 'bellwire-check-'))
  makeFolder(path)
  return path
}
