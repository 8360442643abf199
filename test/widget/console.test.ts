// The widget shows every failure as an outage. The console names what a developer must correct, once.

import assert from 'node:assert/strict'
import test from 'node:test'
import { on } from '../../src/base/runtime/events.ts'
import { createWarnings } from '../../src/tools/widget/warnings.ts'
import { startOperator } from '../support/sides.ts'

const secret = 'the-secret-of-the-console-tests-long-enough'

test('a failure that a developer must correct is named once in the console', () => {
  const warnings: string[] = []
  const warn = createWarnings('https://api.example.com', 'http://localhost:3000', (text) => void warnings.push(text))
  for (let n = 0; n < 3; n++) {
    warn(new Error('token-url /bellwire-token answered 404'))
    // The error of fetch() for a refused origin.
    warn(new TypeError('Failed to fetch'))
    warn(Object.assign(new Error('restarting'), { status: 503 }))
    warn(Object.assign(new Error('too many requests'), { status: 429 }))
  }
  assert.deepEqual(warnings, [
    'bellwire-inbox: token-url /bellwire-token answered 404',
    'bellwire-inbox: https://api.example.com cannot be read from http://localhost:3000: check that the operator runs and that operator.app.origins has http://localhost:3000',
  ])
})

test('the operator logs the origin of a page that may not call /app, counted, and not that of an allowed page', async (t) => {
  const origins: string[] = []
  t.after(on('origins.refused', ({ origin }) => void origins.push(origin)))
  const { url } = await startOperator(t, { app: { secrets: [secret], origins: ['https://www.example.com'] } })
  const preflight = async (origin: string): Promise<void> => {
    const headers = {
      origin,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    }
    await fetch(`${url}/app/inbox`, { method: 'OPTIONS', headers })
  }
  await preflight('https://www.example.com')
  for (let n = 0; n < 3; n++) await preflight('http://localhost:3000')
  assert.deepEqual(origins, ['http://localhost:3000'])
})
