import type { Pool } from 'undici'
import { clock } from '../../runtime/clock.ts'
import { openPool } from '../../runtime/http1.ts'
import type { DeviceSource, LookUp } from '../device-source.ts'
import { devicesFrom, holdersFrom } from './rows.ts'

export interface HttpDevices {
  /** POST {"brand", "user_ids": […]} → {"devices": [{"user_id", "token", "kind", …}]} */
  readonly url: string
  /** POST {"brand", "tokens": […]} → {"devices": […]}, with `"user_id": null` for a known token that belongs to nobody. */
  readonly holdersUrl?: string
  /** Sent with each request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  readonly connections?: number
}

/** An answer with ten thousand users and a few devices each has some megabytes. */
const maxAnswerBytes = 64 * 1024 * 1024

/**
 * Reads devices from an endpoint of the operator, with one request for all users of a batch. Any answer other than 200 with the
 * JSON above is an error, and the messages are retried.
 *
 * @example httpDevices({ url: 'https://backend.example/devices', headers: { authorization: `Bearer ${token}` } })
 */
export function httpDevices(options: HttpDevices): DeviceSource {
  const { url, holdersUrl, headers = {}, timeoutMs = 5_000, connections = 16 } = options
  const pools = new Map<string, Pool>()
  const name = `http ${new URL(url).host}`

  async function post(address: string, body: object, { deadline, signal }: LookUp): Promise<Iterable<unknown>> {
    const { origin, pathname, search } = new URL(address)
    const pool = pools.get(origin) ?? openPool(origin, { connections, connectTimeout: timeoutMs })
    pools.set(origin, pool)
    const withinMs = Math.max(1, Math.min(timeoutMs, deadline - clock.now()))
    const response = await pool.request({
      method: 'POST',
      path: pathname + search,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      signal: AbortSignal.any([signal, clock.timeout(withinMs)]),
    })
    if (response.statusCode !== 200) {
      response.body.on('error', () => {}).destroy()
      throw new Error(`${name} answered ${response.statusCode}; expected 200`)
    }
    return devicesIn(await textOf(response.body))
  }

  async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
    const parts: Buffer[] = []
    let bytes = 0
    for await (const part of body) {
      bytes += part.length
      if (bytes > maxAnswerBytes) throw new Error(`${name} sent an answer of more than ${maxAnswerBytes} bytes`)
      parts.push(part)
    }
    return Buffer.concat(parts).toString('utf8')
  }

  function devicesIn(text: string): readonly unknown[] {
    let answer: { readonly devices?: unknown } | null
    try {
      answer = JSON.parse(text)
    } catch {
      throw new Error(`${name} sent an answer that is not JSON`)
    }
    if (!Array.isArray(answer?.devices))
      throw new Error(
        `${name} sent an answer without the array devices; expected {"devices": [{"user_id", "token", "kind"}]}`,
      )
    return answer.devices
  }

  return {
    name,
    async of(brand, userIds, look) {
      if (userIds.length === 0) return new Map()
      return devicesFrom(name, brand, userIds, await post(url, { brand, user_ids: userIds }, look))
    },
    async holders(brand, tokens, look) {
      if (holdersUrl === undefined || tokens.length === 0) return new Map()
      return holdersFrom(name, brand, tokens, await post(holdersUrl, { brand, tokens }, look))
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
    },
  }
}
