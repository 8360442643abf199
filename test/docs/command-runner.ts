// A process that runs one command line after another, so that each costs no start of Node. A person at a terminal answers yes.

import { Readable } from 'node:stream'
import { main } from '../../src/tools/cli/main.ts'
import type { Run } from '../cli/bellwire.ts'

export interface CommandLine {
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

// Some commands end the process although a timer of a user's module is left.
process.exit = (() => undefined) as never

for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0)

process.on('message', async ({ args, cwd, env }: CommandLine) => {
  process.chdir(cwd)
  process.env = { ...env }
  process.exitCode = 0
  Object.defineProperty(process, 'stdin', {
    value: Object.assign(Readable.from(['y\n']), { isTTY: true }),
    configurable: true,
  })
  const [out, err] = [record(process.stdout), record(process.stderr)]
  const code = await main(args)
  process.send?.({ code, out: out(), err: err() } satisfies Run)
})

/** Replaces the write of a stream. @returns a function that ends the recording and returns the text */
function record(stream: NodeJS.WriteStream): () => string {
  const { write } = stream
  let text = ''
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    text += String(chunk)
    const done = rest.at(-1)
    if (typeof done === 'function') done()
    return true
  }
  return () => {
    stream.write = write
    return text
  }
}
