import { type AddressOptions, type Caller, createCaller } from '../../../base/http-client/caller.ts'
import { clock } from '../../../base/runtime/clock.ts'
import { describeStatus } from '../../../contract/describe-status.ts'
import type { DeviceSource, LookUp } from '../device-source.ts'
import { devicesFrom, holdersFrom } from './rows.ts'

export interface HttpDevices extends AddressOptions {
  /** POST {"brand", "user_ids": […]} → {"devices": [{"user_id", "token", "kind", …}]} */
  readonly url: string
  /** POST {"brand", "tokens": […]} → {"devices": […]}, with `"user_id": null` for a known token that belongs to nobody. */
  readonly holdersUrl?: string
  readonly timeoutMs?: number
  readonly connections?: number
}

/** An answer with ten thousand users and a few devices each has some megabytes. */
const maxAnswerBytes = 64 * 1024 * 1024

/**
 * Reads devices from an endpoint of the operator, with one request for all users of a batch. Any answer other than 200 with the
 * JSON above is an error, and the messages are retried.
 *
 * @example httpDevices({ url: 'https://backend.example/devices', auth: { kind: 'bearer', token } })
 */
export function httpDevices(options: HttpDevices): DeviceSource {
  const { url, holdersUrl, timeoutMs = 5_000, connections = 16 } = options
  const source = createCaller({ ...options, connections })
  const holders = holdersUrl === undefined ? undefined : createCaller({ ...options, url: holdersUrl, connections })
  const name = `http ${new URL(url).host}`

  async function post(caller: Caller, body: object, { deadline, signal }: LookUp): Promise<Iterable<unknown>> {
    const answer = await caller.call({
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      most: maxAnswerBytes,
      deadline: Math.min(deadline, clock.now() + timeoutMs),
      signal,
    })
    if ('lost' in answer) throw answer.lost
    if (answer.status !== 200)
      throw new Error(`${name} answered ${describeStatus(answer.status, answer.headers.location)}; expected 200`)
    if (answer.cut) throw new Error(`${name} sent an answer of more than ${maxAnswerBytes} bytes`)
    return devicesIn(answer.body.toString())
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
    async findDevices(brand, userIds, look) {
      if (userIds.length === 0) return new Map()
      return devicesFrom(name, brand, userIds, await post(source, { brand, user_ids: userIds }, look))
    },
    async findHolders(brand, tokens, look) {
      if (holders === undefined || tokens.length === 0) return new Map()
      return holdersFrom(name, brand, tokens, await post(holders, { brand, tokens }, look))
    },
    async close() {
      await Promise.all([source.destroy(), holders?.destroy()])
    },
  }
}
