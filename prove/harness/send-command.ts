import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { importOptions } from '../../test/support/quick-imports/import-options.ts'
import { adminKey } from '../plans.ts'

const cli = fileURLToPath(new URL('../../bin/bellwire.cjs', import.meta.url))

export interface SendResult {
  readonly code: number | null
  readonly output: string
}

/** Runs `bellwire send` in a separate process. */
export const sendFile = (file: string, platform: string, channel = 'push'): Promise<SendResult> =>
  runCommand(['send', '--file', file, '--url', platform, '--channel', channel, '--json'])

/** Runs a command in a separate process, with the key of /admin. @param onOutput called with all output so far */
export async function runCommand(
  args: readonly string[],
  onOutput: (output: string) => void = () => {},
): Promise<SendResult> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...importOptions, cli, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, BELLWIRE_KEY: adminKey },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk
      onOutput(output)
    })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

export function assertSent({ code, output }: SendResult): void {
  assert.equal(code, 0, `the command ended with ${code}:\n${output.slice(-2_000)}`)
}
