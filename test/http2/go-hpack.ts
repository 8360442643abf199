// HPACK of Go, as a program that answers one request a line (test/http2/go/hpack).

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { goProgram } from '../support/services/go.ts'

export interface Asked {
  /** Begins with new tables. */
  readonly fresh?: boolean
  /** The size of the tables that both directions may use from now on. */
  readonly table?: number
  /** Names and values, alternating. */
  readonly encode?: readonly string[]
  /** A header block, in hexadecimal. */
  readonly decode?: string
}

export interface Answered {
  readonly block?: string
  readonly fields?: readonly string[]
  readonly error?: string
}

/** @returns a function that asks the program, which ends with the test */
export async function startGoHpack(t: TestContext): Promise<(asked: Asked) => Promise<Answered>> {
  const program = spawn(await goProgram('hpack'), { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => program.kill())
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]()
  return async (asked) => {
    program.stdin.write(`${JSON.stringify(asked)}\n`)
    const { value } = await lines.next()
    return JSON.parse(value as string) as Answered
  }
}
