// What `bellwire doctor` can see of an operator without sending a message: an empty batch.

import type { Pool } from 'undici'
import { apiKeyHeader } from '../contract/endpoints.ts'
import { shortened } from '../contract/storable.ts'
import { clockCheck } from './clock-check.ts'
import { exchange } from './exchange.ts'
import { messageOf } from './lost.ts'
import type { Check } from './provider.ts'

export interface CheckOperator {
  readonly pool: Pool
  readonly mode: 'single' | 'batch'
  readonly origin: string
  /** Of the batch endpoint. */
  readonly path: string
  readonly apiKey: string
}

const patienceMs = 5_000
const mostBytes = 64 * 1024
const categories = ['successful', 'failed', 'fatal'] as const

/** Does it answer, take the key, and know the interface? A batch of no messages is answered with empty arrays (§2.4) and has no effect. */
export async function checkOperator({ pool, mode, origin, path, apiKey }: CheckOperator): Promise<readonly Check[]> {
  const answer = await exchange(pool, {
    path,
    headers: { 'content-type': 'application/json', [apiKeyHeader]: apiKey },
    body: Buffer.from('[]'),
    most: mostBytes,
    signal: AbortSignal.timeout(patienceMs),
  })
  if ('lost' in answer)
    return [
      {
        ok: false,
        what: `${origin} does not answer: ${messageOf(answer.lost)}`,
        remedy: 'check the address (url), the network, the certificate, and that the operator runs',
      },
    ]
  const { status, body, headers } = answer
  const clock = clockCheck(origin, headers.date, Date.now())
  return [judge(origin, path, mode, status, body.toString()), ...(clock ? [clock] : [])]
}

function judge(origin: string, path: string, mode: 'single' | 'batch', status: number, text: string): Check {
  if (status === 200 && isEmptyAnswer(text)) return { ok: true, what: `${origin} answers and accepts the key` }
  if (status === 401 || status === 403)
    return {
      ok: false,
      what: `${origin} refuses the key (${status})`,
      remedy: 'set api_key to the token that the operator gave for this address and brand (§5.1)',
    }
  // An operator that takes singles need not have the other endpoint.
  if (mode === 'single' && status >= 400 && status < 500)
    return { ok: true, what: `${origin} answers (${status}); without a batch endpoint the key cannot be tried` }
  const answered = `${origin} answers an empty batch with ${status}: ${shortened(text, 200)}`
  if (status === 404 || status === 405)
    return { ok: false, what: answered, remedy: `check the path of url: the operator should have POST ${path} (§4.1)` }
  return {
    ok: false,
    what: answered,
    remedy: 'ask the operator: an empty batch ought to be answered 200 with empty arrays (§2.4)',
  }
}

function isEmptyAnswer(text: string): boolean {
  try {
    const read = JSON.parse(text) as Readonly<Record<string, unknown>> | null
    const there = categories.map((category) => read?.[category]).filter((value) => value !== undefined)
    return there.length > 0 && there.every((value) => Array.isArray(value) && value.length === 0)
  } catch {
    return false
  }
}
