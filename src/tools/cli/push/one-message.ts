// One message through a running side: for `bellwire push`, and for the canary of `bellwire doctor`.

import { clock } from '../../../base/runtime/clock.ts'
import { readSingleAnswer } from '../../../contract/answer.ts'
import { apiKeyHeaders, type Channel, sendPaths } from '../../../contract/endpoints.ts'
import type { OperatorConfig } from '../../../sides/config/table.ts'
import type { Client } from '../client.ts'
import { CliError, exit } from '../exit.ts'
import { createProgress } from '../progress.ts'
import { type Addressed, withSide } from '../running-side.ts'
import { sendFile } from '../send/send-file.ts'
import type { Summary } from '../send/summary.ts'
import { callOperator } from './call-operator.ts'

export interface OneMessage {
  readonly user: string
  readonly brand?: string
  readonly channel: Channel
  readonly title: string
  readonly body?: string
  /** The longest wait for the outcome, in milliseconds. */
  readonly timeout: number
}

/** Enqueues the message at the platform, and waits for its outcome. */
export async function sendToPlatform(message: OneMessage & Addressed, id: string): Promise<Summary> {
  const { channel, timeout } = message
  return withSide('platform', message, ['enqueue', 'counts', 'read'], async (client, signal) => {
    const brand = message.brand ?? onlyBrand(await brandsOf(client, channel))
    const line = Buffer.from(`${recordOf(message, brand, id)}\n`)
    const progress = createProgress(process.stderr)
    const read = async function* (): AsyncGenerator<Buffer> {
      yield line
    }
    const file = { file: 'the message', read, bytes: line.length }
    return sendFile({ ...file, channel, wait: true, timeoutMs: timeout, client, signal, progress })
  })
}

async function brandsOf(client: Client<'platform'>, channel: Channel): Promise<readonly string[]> {
  const names = (await client.call('GET /admin/lanes')).lanes.map(({ name }) => name.split('/'))
  const brands = names.flatMap(([brand = '', of]) => (of === channel ? [brand] : []))
  if (brands.length > 0) return brands
  throw new CliError(exit.usage, `the platform has no lane of the channel ${channel}`)
}

/**
 * Sends the message to the operator, as a platform does (§4.1).
 *
 * @returns the error of the operator; undefined: the message was delivered
 * @throws CliError if the operator was not reached
 */
export async function sendToOperator(
  operator: OperatorConfig,
  message: OneMessage,
  id: string,
): Promise<string | undefined> {
  const { channel, timeout } = message
  const brand = brandAt(operator, message)
  const { status, text: body } = await callOperator(operator, {
    path: sendPaths[channel].single,
    headers: { 'content-type': 'application/json', ...apiKeyHeaders(keyOf(operator, brand)) },
    body: recordOf(message, brand, id),
    signal: clock.timeout(timeout),
  })
  const outcome = readSingleAnswer({ channel, status, body })
  return outcome.category === 'successful' ? undefined : outcome.error
}

/** The brand of the message, or the only one of the operator. */
export const brandAt = ({ keys }: OperatorConfig, { brand }: Pick<OneMessage, 'brand'>): string =>
  brand ?? onlyBrand(keys.flatMap(({ brands }) => brands))

export function onlyBrand(all: readonly string[]): string {
  const brands = [...new Set(all)]
  if (brands.length === 1) return brands[0] as string
  throw new CliError(exit.usage, `--brand is missing: brands: ${brands.join(', ') || 'none'}`)
}

function keyOf({ keys }: OperatorConfig, brand: string): string {
  const usable = keys.find(
    ({ key, brands, scopes }) => key !== undefined && brands.includes(brand) && (scopes?.includes('send') ?? true),
  )
  if (usable?.key !== undefined) return usable.key
  throw new CliError(exit.usage, `operator.keys has no key for brand ${brand} that is written as \`key\` and may send`)
}

/** Later than all ids of the sender that were made before: microseconds. */
export const newId = (): string => String(BigInt(Date.now()) * 1000n + (process.hrtime.bigint() % 1000n))

/** brand_id is written without quotes, with all its digits. */
function recordOf({ user, title, body }: OneMessage, brand: string, id: string): string {
  const content = JSON.stringify({ title, body }).slice(1, -1)
  return `{"activity":{"id":${id},"brand_id":${brand},"user_id":${JSON.stringify(user)}},${content}}`
}
