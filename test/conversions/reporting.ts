// Reports delivery statuses to a platform as an operator would.

import { signWebhook, webhookKey } from '../../src/contract/webhook-signature.ts'
import { type Answer, post } from '../support/sides.ts'

/** @param name 32 characters or fewer */
export const secretOf = (name: string): string => `whsec_${Buffer.from(name.padEnd(32, '.')).toString('base64')}`

export interface CallOptions {
  readonly secrets?: readonly string[]
  readonly id?: string
  /** The time of the signature. */
  readonly at?: number
  /** Of the address. */
  readonly query?: string
}

const path = '/v1/integration/message/status'
let calls = 0

/** Signs the body, and sends it. */
export function report(url: string, body: unknown, options: CallOptions = {}): Promise<Answer> {
  const { secrets = [secretOf('operator 1')], id = `msg_${++calls}`, at = Date.now(), query = '' } = options
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const keys = secrets.map((secret) => webhookKey(secret) as Buffer)
  return post(url + path + query, text, undefined, signWebhook(keys, id, text, at))
}

/** Sends the body with these headers only. */
export const reportUnsigned = (url: string, body: string, headers: Record<string, string> = {}): Promise<Answer> =>
  post(`${url}${path}`, body, undefined, headers)
