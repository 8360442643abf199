import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { refuseWith } from '../exit.ts'

/** One line of --out. */
export interface ResultLine {
  readonly line: number
  /** The JSON text of activity.id, written unchanged. */
  readonly id?: string | undefined
  readonly outcome: string
  readonly identifier?: string | undefined
  readonly reason?: string | undefined
  readonly error?: string | undefined
}

export interface Results {
  write(line: ResultLine): void
  /** Waits until the written lines have left memory. */
  drain(): Promise<void>
  end(): Promise<void>
}

/** Writes --out as NDJSON, in the order in which the outcomes become known. */
export async function openResults(file: string): Promise<Results> {
  const stream = createWriteStream(file, { mode: 0o600 })
  await once(stream, 'open').catch(refuseWith('--out cannot be written'))
  let buffer = ''
  let full = false
  const flush = (): void => {
    full = !stream.write(buffer)
    buffer = ''
  }
  return {
    write({ line, id, ...rest }) {
      buffer += `{"line":${line}${id === undefined ? '' : `,"id":${id}`},${JSON.stringify(rest).slice(1)}\n`
      if (buffer.length >= 1 << 16) flush()
    },
    async drain() {
      if (full) await once(stream, 'drain')
      full = false
    },
    async end() {
      flush()
      stream.end()
      await finished(stream)
    },
  }
}
