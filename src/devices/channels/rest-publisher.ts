// Publishes device links over REST (§4.2), one request for each message.

import { type Dispatcher, Pool } from 'undici'
import { messageOf } from '../../brokers/reasons.ts'
import { readDeviceAnswer } from '../../contract/device-answer.ts'
import { apiKeyHeader, deviceLink, deviceUnlink, retryAfterHeader } from '../../contract/endpoints.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { shortened } from '../../contract/storable.ts'
import { clock } from '../../runtime/clock.ts'
import { emit } from '../../runtime/events.ts'
import { type DeviceMessage, type DevicePublisher, inOrder } from '../device-channel.ts'

export interface RestPublisherOptions {
  /** {platform_url} of §4.2. May contain a path. */
  readonly url: string
  /** The API key issued by the platform, sent as X-Api-Key (row 15). */
  readonly apiKey: string
  /** Concurrent requests, each for another user. Default: 8. */
  readonly connections?: number
}

/** Bytes of an answer that are read; the rest is ignored. */
const maxAnswerBytes = 16 * 1024
/** A wrong key causes one alert per interval, not one for each attempt. */
const alertEveryMs = 60_000

/** @example restPublisher({ url: 'https://brand.platform.example/integration-api/api', apiKey: '…' }) */
export function restPublisher({ url, apiKey, connections = 8 }: RestPublisherOptions): DevicePublisher {
  const address = new URL(url)
  const prefix = address.pathname.replace(/\/+$/, '')
  const pool = new Pool(address.origin, { connections, pipelining: 1, connect: { timeout: 5_000 } })
  const headers = { [apiKeyHeader]: apiKey, 'content-type': 'application/json' }
  let alertedAt = Number.NEGATIVE_INFINITY

  async function postRecord({ what, body }: DeviceMessage, deadline: number, signal: AbortSignal): Promise<Outcome> {
    const { path } = what === 'link' ? deviceLink : deviceUnlink
    const late = clock.timeout(Math.max(1, deadline - clock.now()))
    try {
      const response = await pool.request({
        method: 'POST',
        path: prefix + path,
        headers,
        body,
        signal: AbortSignal.any([signal, late]),
      })
      const retryAfter = response.headers[retryAfterHeader]
      return readDeviceAnswer({
        status: response.statusCode,
        body: await textOf(response),
        ...(typeof retryAfter === 'string' && { retryAfter, now: clock.now() }),
      })
    } catch (error) {
      return {
        category: 'fatal',
        reason: late.aborted ? 'timeout' : 'unavailable',
        blame: 'provider',
        rule: 'row 19: no answer',
        error: shortened(late.aborted ? 'the platform did not answer in time' : messageOf(error)),
        uncertain: true,
      }
    }
  }

  function alert(outcome: Outcome): void {
    if (outcome.category !== 'fatal' || outcome.reason !== 'misconfigured') return
    if (clock.now() - alertedAt < alertEveryMs) return
    alertedAt = clock.now()
    emit('provider.alert', {
      provider: 'device links over REST',
      error: outcome.error,
      remedy: 'correct operator.publish[].to; waiting messages are then published automatically',
    })
  }

  return {
    name: 'rest',
    max: 1,
    concurrency: connections,
    async publish(messages, { deadline, signal }) {
      const outcomes: Outcome[] = []
      for (const message of messages) {
        const before = outcomes.at(-1)
        outcomes.push(before?.category === 'fatal' ? before : await postRecord(message, deadline, signal))
      }
      outcomes.forEach(alert)
      return inOrder(outcomes)
    },
    close: () => pool.destroy(),
  }
}

async function textOf({ body }: Dispatcher.ResponseData): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxAnswerBytes) break
  }
  return Buffer.concat(chunks).toString('utf8').slice(0, maxAnswerBytes)
}
