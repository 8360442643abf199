// A side of the demo in a process of its own: `bellwire operator` or `bellwire platform`. It can be killed, and started again.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import type { Side } from '../../base/http/http.ts'
import { type EventName, type Events, emit } from '../../base/runtime/events.ts'

export interface SideProcess {
  readonly state: 'starting' | 'running' | 'stopping' | 'stopped'
  /** The system refuses each write of the process to a file. */
  readonly isDiskFull: boolean
  /** Resolves when the side listens. Throws the error that it printed if it ends before. */
  start(): Promise<void>
  /** SIGTERM ends running calls first, SIGKILL is a crash. Resolves when the process has ended. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Needs `prlimit`, which Linux has. @returns why it was not possible */
  setDiskFull(isFull: boolean): string | undefined
}

/** @param config the configuration file */
export function createSideProcess(side: Side, config: string): SideProcess {
  const forward = new URL(`./forward-events${extname(import.meta.url)}`, import.meta.url).href
  const args = [...process.execArgv, '--import', forward, process.argv[1] as string, side, '--config', config]
  let child: ChildProcess | undefined
  let state: SideProcess['state'] = 'stopped'
  let isDiskFull = false

  return {
    get state() {
      return state
    },
    get isDiskFull() {
      return isDiskFull
    },
    async start() {
      if (child) return
      state = 'starting'
      isDiskFull = false
      const started = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
      child = started
      let printed = ''
      started.stderr?.setEncoding('utf8').on('data', (text: string) => {
        printed = `${printed}${text}`.slice(-2_000)
      })
      started.once('close', () => {
        child = undefined
        state = 'stopped'
      })
      await new Promise<void>((resolve, reject) => {
        started.once('error', reject).once('close', () => reject(new Error(`the ${side} did not start: ${printed}`)))
        started.on('message', ([name, event]: [EventName, Events[EventName]]) => {
          if (name === 'server.listening') {
            state = 'running'
            resolve()
          }
          emit(name, event)
        })
      })
    },
    async stop(signal) {
      if (!child) return
      state = 'stopping'
      child.kill(signal)
      await once(child, 'close')
    },
    setDiskFull(isFull) {
      if (!child) return 'There is no process that could write.'
      const limit = isFull ? '1' : 'unlimited'
      const { status } = spawnSync('prlimit', ['--pid', String(child.pid), `--fsize=${limit}:`])
      if (status !== 0) return 'The disk cannot be filled here: this system has no prlimit, as Linux has.'
      isDiskFull = isFull
      return undefined
    },
  }
}
