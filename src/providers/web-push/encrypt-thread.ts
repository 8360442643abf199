// The program of an encryption thread (RFC 8291): see encryptor.ts.

import { parentPort } from 'node:worker_threads'
import library from 'web-push'

export interface EncryptionJob {
  readonly id: number
  readonly payload: Uint8Array
  /** The keys of the subscription, unchanged. */
  readonly keys: { readonly p256dh: string; readonly auth: string }
}

export type EncryptionResult =
  | { readonly id: number; readonly body: Uint8Array<ArrayBuffer> }
  | { readonly id: number; readonly error: string }

/** Number of results per message. Fewer would cost more; with more, the first result would wait longer. */
const resultsPerMessage = 16

parentPort?.on('message', (jobs: readonly EncryptionJob[]) => {
  for (let from = 0; from < jobs.length; from += resultsPerMessage)
    parentPort?.postMessage(jobs.slice(from, from + resultsPerMessage).map(encrypt))
})

function encrypt({ id, payload, keys }: EncryptionJob): EncryptionResult {
  try {
    // The library uses the endpoint only to recognize Google's older services.
    const subscription = { endpoint: 'https://push.example', keys }
    const { body } = library.generateRequestDetails(subscription, Buffer.from(payload), { vapidDetails: null as never })
    return { id, body: new Uint8Array(body as Buffer) }
  } catch (error) {
    return { id, error: (error as Error).message }
  }
}
