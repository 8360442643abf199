import { spawn } from 'node:child_process'
import { ask } from '../confirm.ts'

/** Restarts the implementation by a shell command. Rejects if the command fails. */
export const restartByCommand = (command: string) => async (): Promise<void> => {
  await runShell('restart', command)
}

/**
 * @param name the purpose of the command, for the error
 * @returns its standard output, up to 16 MiB
 */
export function runShell(name: string, command: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, {
      shell: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    })
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (out.length < mostOutput) out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err = (err + text).slice(-500)))
    child.on('error', reject)
    // Not 'close': a server that the command starts in the background keeps its standard error open.
    child.on('exit', (code) => {
      if (code === 0) resolve(out)
      else reject(new Error(`the ${name} command exited with ${code}: ${err.trim() || command}`))
    })
  })
}

const mostOutput = 16 * 1024 * 1024

/** Asks the person at the terminal to restart the implementation. */
export function restartByPerson(subject: 'operator' | 'platform', prepareTerminal: () => void): () => Promise<void> {
  return async () => {
    prepareTerminal()
    await ask(`Restart the ${subject} now, and press Enter when it is starting: `)
  }
}
