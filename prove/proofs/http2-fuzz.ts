// Mutated and random byte streams into our own HTTP/2 client. SEED repeats the streams of a run.

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import type { Proof } from '../harness/proof.ts'
import { byteStreams } from '../http2/byte-streams.ts'
import { readInPieces } from '../http2/fuzz-reader.ts'
import { answerWith } from '../http2/fuzz-session.ts'

const counts = { small: { reader: 10_000, session: 1_000 }, full: { reader: 1_000_000, session: 100_000 } }
const blocks = 20
/** A stream has at most 1 kB. More time means that the reader loops; less may be another process. */
const maxStreamMs = 5_000
/** The most growth of the memory that is in use, after the first tenth. In full size, keeping the streams would add 100 MB. */
const maxGrowthBytes = 16 * 1024 * 1024

export const http2Fuzz: Proof = {
  name: 'http2-fuzz',
  claims:
    'mutated and random byte streams into the HTTP/2 client throw nothing, keep no memory, stall nothing, and mean the same in any pieces',
  boundSeconds: { small: 60, full: 3_600 },
  async run({ small, print }, signal) {
    const { reader, session } = counts[small ? 'small' : 'full']
    const first = Number(process.env.SEED ?? randomInt(2 ** 31))
    print(`SEED=${first}`)
    const readerGrowth = await repeat(reader, first, signal, (parameters) =>
      fc.assert(
        fc.property(byteStreams, ([bytes, pieceBytes]) => timed(() => readInPieces(bytes, pieceBytes))),
        parameters,
      ),
    )
    const sessionGrowth = await repeat(session, first, signal, (parameters) =>
      fc.assert(
        fc.asyncProperty(byteStreams, ([bytes, pieceBytes]) => answerWith(bytes, pieceBytes)),
        { ...parameters, timeout: maxStreamMs },
      ),
    )
    return {
      seed: first,
      reader_streams: reader,
      session_streams: session,
      reader_growth_mb: readerGrowth,
      session_growth_mb: sessionGrowth,
    }
  },
}

function timed(read: () => void): void {
  const began = performance.now()
  read()
  assert.ok(performance.now() - began < maxStreamMs, 'the reader stalled')
}

type Parameters = { readonly seed: number; readonly numRuns: number }

/** @returns the growth of the memory in MB, after the first tenth */
async function repeat(
  runs: number,
  first: number,
  signal: AbortSignal,
  run: (parameters: Parameters) => void | Promise<void>,
): Promise<number> {
  let before = 0
  for (let block = 0; block < blocks; block++) {
    if (block === blocks / 10) before = await usedBytes()
    signal.throwIfAborted()
    await run({ seed: (first + block) | 0, numRuns: runs / blocks })
    await nextTurn()
  }
  const growth = (await usedBytes()) - before
  assert.ok(growth < maxGrowthBytes, `memory grew by ${growth} bytes`)
  return Math.round(growth / 1024 / 102.4) / 10
}

async function usedBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // Buffers of a session are freed some time after the collection that finds them.
  for (let times = 0; times < 3; times++) {
    collect()
    await sleep(50)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
