// The operator's API as a provider (§4.1, §5, §7): what the platform's lanes call.

import { Pool } from 'undici'
import { readBatchAnswer, readSingleAnswer } from '../contract/answer.ts'
import { apiKeyHeader, sendPaths } from '../contract/endpoints.ts'
import type { Fatal, Outcome } from '../contract/outcome.ts'
import { readSingle } from '../contract/read-activity.ts'
import { emit } from '../runtime/events.ts'
import type { Channel, Message, Provider, SendContext } from './provider.ts'

export interface OperatorApiOptions {
  /** {base_url} of §4.1; may have a path. */
  readonly baseUrl: string
  /** The token that the operator gave to the platform (§5.1). */
  readonly apiKey: string
  readonly channel: Channel
  readonly mode: 'single' | 'batch'
  /** The operator's batch maximum (§1.6). 500. */
  readonly max?: number
  readonly connections?: number
}

const mostAnswerBytes = { single: 1024 * 1024, batch: 64 * 1024 * 1024 }

/**
 * @example operatorApi({ baseUrl: 'https://operator.example', apiKey: '…', channel: 'push', mode: 'batch', max: 500 })
 */
export function operatorApi(options: OperatorApiOptions): Provider {
  const { apiKey, channel, mode, max = 500, connections = 64 } = options
  const { origin, pathname, host } = new URL(options.baseUrl)
  const path = pathname.replace(/\/+$/, '') + sendPaths[channel][mode]
  const name = `operator-api ${host}`
  // Deadlines are ours; redirects are never followed (row 8): the pool has no handler for them.
  const pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000 })

  async function post(body: string, headers: Record<string, string>, { deadline, signal }: SendContext): Promise<Answered | Fatal> {
    const cut = new AbortController()
    const timer = setTimeout(() => cut.abort(), Math.max(0, deadline - Date.now()))
    const stop = (): void => cut.abort()
    signal.addEventListener('abort', stop, { once: true })
    try {
      const response = await pool.request({
        method: 'POST', path, body, signal: cut.signal,
        headers: { 'content-type': 'application/json', [apiKeyHeader]: apiKey, ...headers },
      })
      const chunks: Buffer[] = []
      let bytes = 0
      for await (const chunk of response.body) {
        chunks.push(chunk as Buffer)
        bytes += (chunk as Buffer).length
        if (bytes > mostAnswerBytes[mode]) throw new Error(`the answer is larger than ${mostAnswerBytes[mode]} bytes`)
      }
      const retryAfter = response.headers['retry-after']
      return {
        status: response.statusCode,
        body: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks),
        ...(typeof retryAfter === 'string' && { retryAfter }),
      }
    } catch (error) {
      return lost(name, error as Error & { code?: string }, cut.signal.aborted)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
  }

  async function sendSingle(message: Message, context: SendContext): Promise<Outcome> {
    const answered = await post(message.text, { ...traceOf(message), ...trackingOf(message) }, context)
    return 'category' in answered ? answered : readSingleAnswer({ channel, now: Date.now(), ...answered })
  }

  async function sendBatch(messages: readonly Message[], context: SendContext): Promise<readonly Outcome[]> {
    // The elements travel as they were put: joined, never parsed and written anew.
    const answered = await post(`[${messages.map((m) => m.text).join(',')}]`, {}, context)
    if ('category' in answered) return messages.map(() => answered)
    const { outcomes, warnings } = readBatchAnswer({ channel, ids: messages.map((m) => m.id), now: Date.now(), ...answered })
    for (const warning of warnings) emit('answer.warning', { provider: name, warning })
    return outcomes
  }

  return {
    name,
    max: mode === 'single' ? 1 : max,
    send: async (messages, context) =>
      mode === 'single' ? Promise.all(messages.map((message) => sendSingle(message, context))) : sendBatch(messages, context),
    async check() {
      try {
        const { body, statusCode } = await pool.request({ method: 'GET', path: '/', signal: AbortSignal.timeout(5_000) })
        await body.dump()
        return [{ ok: true, what: `${origin} answers (${statusCode})` }]
      } catch (error) {
        return [{ ok: false, what: `${origin} does not answer: ${(error as Error).message}`, remedy: 'check the address, the network and that the operator runs' }]
      }
    },
    close: () => pool.close(),
  }
}

interface Answered {
  readonly status: number
  readonly body: Buffer
  readonly retryAfter?: string
}

/** These happen before the first byte of the request is written. */
const beforeWriting = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT', 'ERR_TLS_CERT_ALTNAME_INVALID'])

/** No answer, or half of one (row 8). Nobody splits a batch for it: it is the way to the operator, not a message. */
function lost(name: string, error: Error & { code?: string }, timedOut: boolean): Fatal {
  const written = !beforeWriting.has(error.code ?? '') && !isTlsRefusal(error)
  const what = timedOut ? 'no answer in time' : (error.code ?? error.message)
  return {
    category: 'fatal',
    reason: timedOut ? 'timeout' : 'unavailable',
    blame: 'provider',
    rule: `row 8: ${written ? 'answer lost' : 'no connection'}`,
    error: `${name}: ${what}${error.message === what ? '' : ` (${error.message})`}`,
    ...(written && { uncertain: true as const }),
  }
}

function isTlsRefusal({ code }: { readonly code?: string }): boolean {
  return code?.includes('CERT') === true || code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' || code === 'EPROTO'
}

function traceOf({ context: { traceparent } }: Message): Record<string, string> {
  return traceparent === undefined ? {} : { traceparent }
}

/** Row 25: a single request says in its headers where its message comes from. */
function trackingOf(message: Message): Record<string, string> {
  const read = readSingle(message.text)
  if ('invalid' in read) return {}
  const headers: Record<string, string> = {}
  const add = (name: string, value: string | null): void => {
    // What cannot stand in a header stands in the body all the same.
    if (value !== null && /^[\x21-\x7e]+$/.test(value)) headers[name] = value
  }
  add('x-fasttrack-id', read.id)
  add('x-fasttrack-triggerhash', read.triggerHash)
  add('x-fasttrack-activityid', read.activityId)
  add('x-fasttrack-actionid', read.actionId)
  add('x-fasttrack-actiongroupid', read.actionGroupId)
  return headers
}
