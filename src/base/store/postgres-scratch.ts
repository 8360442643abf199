import { finished } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { createAbortableWait } from '../runtime/within.ts'
import { connected, createClient } from './postgres-client.ts'
import { toCallerError } from './postgres-errors.ts'
import type { Scratch, Texts } from './scratch.ts'

/**
 * Planner settings for large joins: only hash joins, no merge joins. Joining 5 million rows with 5 million takes 5 s with a
 * hash join and 13 s with sorting. A small work_mem is faster: a hash table of 4 MB fits into the processor's cache (5.3 s;
 * with four times as much memory 6.1 s, with eight times 7.2 s).
 */
const settings = [
  'enable_mergejoin = off',
  'work_mem = 2048',
  'jit = off',
  'synchronous_commit = off',
  'statement_timeout = 0',
]

export async function openPostgresScratch(config: pg.ClientConfig): Promise<Scratch> {
  const client = createClient({ ...config, application_name: 'bellwire scratch' })
  client.setTypeParser(pg.types.builtins.INT8, Number)
  let closed = false
  await connected(client, () => client.query(settings.map((setting) => `set ${setting}`).join('; '))).catch(
    (error: unknown) => {
      throw toCallerError(error)
    },
  )

  async function run<Row extends object>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    try {
      const { rows } = await client.query(values.length > 0 ? { text, values: [...values] } : text)
      return rows as Row[]
    } catch (error) {
      throw toCallerError(error)
    }
  }

  return {
    engine: 'postgres',
    async load(table, texts) {
      await run(`create temporary table ${table} (text text collate "C" not null)`)
      await copyInto(client, table, texts)
      // Without statistics the planner assumes that a table that was just filled is small.
      await run(`analyze ${table}`)
    },
    repeated: async (table) =>
      (await run<{ text: string }>(`select text from ${table} group by text having count(*) > 1 limit 3`)).map(
        ({ text }) => text,
      ),
    run,
    async close() {
      if (closed) return
      closed = true
      // Not end(), which would wait for the running query.
      client.connection.stream.destroy()
    },
  }
}

async function copyInto(client: pg.Client, table: string, texts: AsyncIterable<Texts>): Promise<void> {
  const copy = client.query(copyFrom(`copy ${table} from stdin`))
  const waiting = createAbortableWait()
  copy.on('error', (error) => waiting.abort(toCallerError(error) as Error))
  const write = (bytes: Uint8Array | string): Promise<void> =>
    waiting.for(new Promise((resolve) => copy.write(bytes, () => resolve())))
  const socket = client.connection.stream
  try {
    for await (const piece of texts) {
      if ('texts' in piece) await write(piece.texts.map(escapeText).join(''))
      // The memory of `lines` is reused. A write above the high-water mark resolves when the kernel has the bytes; a smaller
      // one may stay in the socket's buffer, and therefore needs a copy.
      else await write(piece.lines.length >= socket.writableHighWaterMark ? piece.lines : Buffer.from(piece.lines))
    }
    copy.end()
    await waiting.for(finished(copy))
  } catch (error) {
    copy.destroy()
    throw error
  }
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const escapeText = (text: string): string => `${text.replace(/[\\\n\r\t]/g, (c) => escapes[c] as string)}\n`
