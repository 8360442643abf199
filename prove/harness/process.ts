import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A process of a proof: one of our programs, which reports over IPC when it is ready. */
export interface Process {
  readonly pid: number
  /** The report of the ready process. Rejects if the process ends earlier. */
  readonly ready: Promise<Readonly<Record<string, unknown>>>
  readonly ended: Promise<Ended>
  /** Resolves when the process next reports this event. */
  waitFor(event: string): Promise<void>
  signal(name: NodeJS.Signals): void
  /** The end of its stderr output. */
  errorOutput(): string
}

export interface ProcessOptions {
  readonly args?: readonly string[]
  /** A module to load before the program: `node --import`. */
  readonly preload?: URL
  readonly env?: Readonly<Record<string, string>>
  /** A file descriptor for stdout and stderr. Default: stdout is inherited, and the end of stderr is kept. */
  readonly output?: number
}

const running = new Set<ChildProcess>()

export function startProcess(program: URL, { args = [], preload, env, output }: ProcessOptions = {}): Process {
  const nodeArgs = ['--disable-warning=ExperimentalWarning', ...(preload ? ['--import', preload.href] : [])]
  const child = spawn(process.execPath, [...nodeArgs, fileURLToPath(program), ...args], {
    stdio: ['ignore', output ?? 'inherit', output ?? 'pipe', 'ipc'],
    env: { ...process.env, ...env },
  })
  running.add(child)
  let errorOutput = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    errorOutput = (errorOutput + chunk.toString()).slice(-4_000)
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    // 'close', not 'exit': all of stderr has arrived by then.
    child.once('close', (code, signal) => {
      running.delete(child)
      resolve({ code, signal })
    })
  })
  const ready = new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
    child.on('message', (message: { ready?: Record<string, unknown> }) => message.ready && resolve(message.ready))
    void ended.then(({ code, signal }) =>
      reject(new Error(`${program.pathname} ended (${signal ?? code}) before it was ready\n${errorOutput}`)),
    )
  })
  const waitFor = (event: string): Promise<void> =>
    new Promise((resolve) => {
      const check = (message: { event?: string }): void => {
        if (message.event !== event) return
        child.off('message', check)
        resolve()
      }
      child.on('message', check)
    })
  // No caller waits for a process that is killed at once.
  ready.catch(() => {})
  return {
    pid: child.pid as number,
    ready,
    ended,
    waitFor,
    signal: (name) => void child.kill(name),
    errorOutput: () => errorOutput,
  }
}

/** Kills all running processes: the witness, and the processes of a failed proof. */
export async function endProcesses(): Promise<void> {
  await Promise.all(
    [...running].map((child) => {
      const closed = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGKILL')
      return closed
    }),
  )
}

/** The resident memory in bytes, according to the kernel. */
export function memoryOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

/** Whether the process is stopped (SIGSTOP), according to the kernel. */
export function isStopped(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T')
}
