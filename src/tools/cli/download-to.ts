// Writes an answer of a side to a file or to standard output.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import { refuseWith } from './exit.ts'
import { createTextWriter } from './output.ts'

type Write = (chunk: Buffer) => Promise<void>

/** @param file standard output if undefined. The file gets its name when it is complete. */
export async function downloadTo(file: string | undefined, download: (write: Write) => Promise<void>): Promise<void> {
  if (file === undefined) return download(createTextWriter())
  const part = `${file}.part`
  const stream = createWriteStream(part, { mode: 0o600 })
  const failed = refuseWith('--out cannot be written')
  await once(stream, 'open').catch(failed)
  const closed = finished(stream)
  closed.catch(() => {})
  try {
    await download((chunk) => Promise.race([write(stream, chunk), closed]).catch(failed))
    stream.end()
    await closed.catch(failed)
    await rename(part, file).catch(failed)
  } catch (error) {
    stream.destroy()
    await rm(part, { force: true })
    throw error
  }
}

async function write(stream: NodeJS.WritableStream, chunk: Buffer): Promise<void> {
  if (!stream.write(chunk)) await once(stream, 'drain')
}
