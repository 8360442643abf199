// The files that the pages load: three libraries, as their packages contain them, and the console's own style and script.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

const compress = promisify(gzip)

const script = 'text/javascript; charset=utf-8'
const style = 'text/css; charset=utf-8'
const own = (name: string): string => new URL(`./files/${name}`, import.meta.url).href

const sources = {
  'htmx.js': { type: script, from: () => import.meta.resolve('htmx.org/dist/htmx.min.js') },
  'hx-sse.js': { type: script, from: () => import.meta.resolve('htmx.org/dist/ext/hx-sse.min.js') },
  'uplot.js': { type: script, from: () => import.meta.resolve('uplot/dist/uPlot.iife.min.js') },
  'uplot.css': { type: style, from: () => import.meta.resolve('uplot/dist/uPlot.min.css') },
  'console.js': { type: script, from: () => own('console.js') },
  'console.css': { type: style, from: () => own('console.css') },
} as const

export type FileName = keyof typeof sources

interface File {
  readonly bytes: Buffer
  readonly type: string
  readonly version: string
}

export interface Files {
  /** Serves the files without a session: they contain no data. A browser keeps each version. */
  serve(app: FastifyInstance): void
  read(): Promise<Readonly<Record<FileName, File>>>
  /** The version of each file, for its address. */
  versions(): Promise<Readonly<Record<FileName, string>>>
}

/** The first request reads the files; together they have less than 70 KB in memory. */
export function createFiles(): Files {
  let reading: Promise<Readonly<Record<FileName, File>>> | undefined
  const read = () => (reading ??= readFiles())
  return {
    read,
    serve(app) {
      for (const name of Object.keys(sources) as FileName[])
        app.get(`/console/files/${name}`, async (_request, reply) => {
          const { bytes, type } = (await read())[name]
          return reply
            .headers({ 'cache-control': 'public, max-age=31536000, immutable', 'content-encoding': 'gzip' })
            .type(type)
            .send(bytes)
        })
    },
    async versions() {
      const files = Object.entries(await read()).map(([name, { version }]) => [name, version])
      return Object.fromEntries(files) as Record<FileName, string>
    },
  }
}

async function readFiles(): Promise<Readonly<Record<FileName, File>>> {
  const files = Object.entries(sources).map(async ([name, { type, from }]) => {
    const content = await readFile(fileURLToPath(from()))
    const version = createHash('sha256').update(content).digest('base64url').slice(0, 10)
    return [name, { bytes: await compress(content, { level: 9 }), type, version }] as const
  })
  return Object.fromEntries(await Promise.all(files)) as Record<FileName, File>
}
