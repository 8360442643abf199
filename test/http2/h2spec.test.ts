// The cases of h2spec's client mode, strict, against both implementations.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { OpenConnection } from '../../src/http2/connection.ts'
import { openNodeConnection } from '../../src/http2/node-connection.ts'
import { openSession } from '../../src/http2/session.ts'
import { withoutGo } from '../support/services/go.ts'
import { runH2spec } from './h2specd.ts'

const skip = await withoutGo()
/** The number of cases of h2spec 2.2.1. */
const cases = 57

/** @param exceptions the cases that cannot pass, with the reason */
function passesAll(name: string, open: OpenConnection, exceptions: Readonly<Record<string, string>>): void {
  test(`http2 ${name}: h2spec passes in strict mode`, { skip, timeout: 120_000 }, async () => {
    const results = await runH2spec(open)
    assert.equal(results.length, cases)
    const failed = results.filter(({ state }) => state !== 'passed')
    const unexpected = failed.filter((one) => !(one.name in exceptions))
    assert.deepEqual(
      unexpected.map(({ name, detail }) => `${name}: ${detail}`),
      [],
    )
    const passed = Object.keys(exceptions).filter((one) => !failed.some(({ name }) => name === one))
    assert.deepEqual(passed, [], 'exceptions that are no longer needed')
  })
}

const forgets = 'nghttp2 forgets a stream when it ends, and ignores its further frames'

passesAll('own', openSession, {})
passesAll('node', openNodeConnection, {
  '5.1: closed: Sends a DATA frame after sending RST_STREAM frame': forgets,
  '5.1: closed: Sends a HEADERS frame after sending RST_STREAM frame': forgets,
  '5.1: closed: Sends a DATA frame': forgets,
  '5.1: closed: Sends a HEADERS frame': forgets,
  '6.1: Sends a DATA frame on the stream that is not in "open" or "half-closed (local)" state': forgets,
  '6.3: Sends a PRIORITY frame with 0x0 stream identifier': 'nghttp2 ignores PRIORITY frames',
  '6.7: Sends a PING frame with ACK': 'node:http2 ends the connection on an ACK without its PING',
  '6.9.1: Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream':
    'node:http2 ends the connection instead of the stream',
})
