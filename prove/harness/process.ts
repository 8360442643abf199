import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A process of the proof: a program of ours that reports over IPC once it is ready. */
export interface Process {
  readonly pid: number
  /** What it reported when it was ready; rejects if it ended before. */
  readonly ready: Promise<Readonly<Record<string, unknown>>>
  readonly ended: Promise<Ended>
  /** Resolves when it next reports that this happened. */
  happened(what: string): Promise<void>
  signal(name: NodeJS.Signals): void
  /** The end of what it wrote to stderr. */
  words(): string
}

export interface ProcessOptions {
  readonly args?: readonly string[]
  /** Loaded before the program: `node --import`. */
  readonly preload?: URL
  readonly env?: Readonly<Record<string, string>>
  /** Where stdout and stderr go: a file descriptor. Else stdout is ours, and the end of stderr is kept. */
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
  let words = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-4_000)
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    // 'close' and not 'exit': its last words have arrived by then.
    child.once('close', (code, signal) => {
      running.delete(child)
      resolve({ code, signal })
    })
  })
  const ready = new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
    child.on('message', (message: { ready?: Record<string, unknown> }) => message.ready && resolve(message.ready))
    void ended.then(({ code, signal }) =>
      reject(new Error(`${program.pathname} ended (${signal ?? code}) before it was ready\n${words}`)),
    )
  })
  const happened = (what: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (message: { happened?: string }): void => {
        if (message.happened !== what) return
        child.off('message', look)
        resolve()
      }
      child.on('message', look)
    })
  // Nobody waits for a process that is meant to die at once.
  ready.catch(() => {})
  return {
    pid: child.pid as number,
    ready,
    ended,
    happened,
    signal: (name) => void child.kill(name),
    words: () => words,
  }
}

/** SIGKILL for all that still run: the witness and what a failed proof left. */
export async function endProcesses(): Promise<void> {
  await Promise.all(
    [...running].map((child) => {
      const gone = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGKILL')
      return gone
    }),
  )
}

/** Resident memory in bytes, as the kernel counts it. */
export function memoryOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

/** Is it stopped (SIGSTOP)? As the kernel says. */
export function isStopped(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T')
}
