import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { importOptions } from '../../test/support/quick-imports/import-options.ts'

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
  /** Resolves when the process next reports this event. Rejects if the process ends earlier. */
  waitFor(event: string): Promise<void>
  signal(name: NodeJS.Signals): void
  /** Sends a message to the process. Resolves with the next message that it sends. Rejects if the process ends earlier. */
  ask(message?: object): Promise<unknown>
  /** The end of its stderr output. */
  errorOutput(): string
}

export interface ProcessOptions {
  readonly args?: readonly string[]
  /** A module to load before the program: `node --import`. */
  readonly preload?: URL
  readonly env?: Readonly<Record<string, string>>
  /** Called for each message of the process. */
  readonly onMessage?: (message: Readonly<Record<string, unknown>>) => void
  /** A file descriptor for stdout and stderr. Default: stdout is inherited, and the end of stderr is kept. */
  readonly output?: number
}

const running = new Set<ChildProcess>()

export function startProcess(
  program: URL,
  { args = [], preload, env, onMessage, output }: ProcessOptions = {},
): Process {
  const warnings = '--disable-warning=ExperimentalWarning'
  const nodeArgs = [warnings, ...importOptions, ...(preload ? ['--import', preload.href] : [])]
  const child = spawn(process.execPath, [...nodeArgs, fileURLToPath(program), ...args], {
    stdio: ['ignore', output ?? 'inherit', output ?? 'pipe', 'ipc'],
    env: { ...process.env, ...env },
  })
  running.add(child)
  if (onMessage) child.on('message', (message) => onMessage(message as Record<string, unknown>))
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
  /** Resolves with the next message that matches. */
  const nextMessage = (matches: (message: { event?: string }) => boolean): Promise<unknown> => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const check = (message: object): void => {
      if (!matches(message)) return
      child.off('message', check)
      resolve(message)
    }
    child.on('message', check)
    void ended.then(() => reject(new Error(`${program.pathname} ended before the message\n${errorOutput}`)))
    // A caller may wait for one of several processes only.
    promise.catch(() => {})
    return promise
  }
  // No caller waits for a process that is killed at once.
  ready.catch(() => {})
  return {
    pid: child.pid as number,
    ready,
    ended,
    waitFor: (event) => nextMessage((message) => message.event === event) as Promise<void>,
    signal: (name) => void child.kill(name),
    ask(message = {}) {
      const reply = nextMessage(() => true)
      child.send(message)
      return reply
    },
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

/** The processor time of all threads of a process in milliseconds, according to the kernel. 0: the process has ended. */
export function cpuMs(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const ns = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]))
    return ns.reduce((total, each) => total + each, 0) / 1e6
  } catch {
    return 0
  }
}

/** The resident memory in bytes, according to the kernel. 0: the process has ended. */
export function memoryOf(pid: number): number {
  try {
    const [, kilobytes = 0] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) * 1024
  } catch {
    return 0
  }
}

/** Resolves when the process is stopped (SIGSTOP). */
export async function untilStopped({ pid }: Process, signal: AbortSignal): Promise<void> {
  while (!isStopped(pid)) {
    signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Whether the process is stopped (SIGSTOP), according to the kernel. */
export function isStopped(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T')
}
