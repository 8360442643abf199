import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { adminKey } from '../plans.ts'

const cli = fileURLToPath(new URL('../../bin/bellwire.cjs', import.meta.url))

export interface Sending {
  readonly code: number | null
  readonly output: string
}

/** `bellwire send`, as a person runs it: a process of its own. */
export async function sendFile(file: string, platform: string, channel = 'push'): Promise<Sending> {
  const args = ['send', '--file', file, '--url', platform, '--channel', channel, '--json']
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', cli, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, BELLWIRE_KEY: adminKey },
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

export function assertSent({ code, output }: Sending): void {
  assert.equal(code, 0, `bellwire send ended with ${code}:\n${output.slice(-2_000)}`)
}
