// A thread that encrypts (RFC 8291): see encryptor.ts.

import { parentPort } from 'node:worker_threads'
import library from 'web-push'

export interface Asked {
  readonly id: number
  readonly payload: Uint8Array
  /** Of the subscription, as the browser gave them. */
  readonly keys: { readonly p256dh: string; readonly auth: string }
}

export type Encrypted =
  | { readonly id: number; readonly body: Uint8Array<ArrayBuffer> }
  | { readonly id: number; readonly error: string }

/** So many are handed back together: fewer would cost more, and the first should not wait for the last. */
const together = 16

parentPort?.on('message', (asked: readonly Asked[]) => {
  for (let from = 0; from < asked.length; from += together)
    parentPort?.postMessage(asked.slice(from, from + together).map(encrypted))
})

function encrypted({ id, payload, keys }: Asked): Encrypted {
  try {
    // Of the endpoint it looks only at what made Google's older services special.
    const subscription = { endpoint: 'https://push.example', keys }
    const { body } = library.generateRequestDetails(subscription, Buffer.from(payload), { vapidDetails: null as never })
    return { id, body: new Uint8Array(body as Buffer) }
  } catch (error) {
    return { id, error: (error as Error).message }
  }
}
