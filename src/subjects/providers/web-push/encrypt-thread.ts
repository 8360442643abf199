// The program of an encryption thread (RFC 8291): see encryptor.ts.

import { parentPort } from 'node:worker_threads'
import { encrypt, type SubscriptionKeys } from './encrypt.ts'

export interface EncryptionJob {
  readonly id: number
  readonly payload: Uint8Array
  readonly keys: SubscriptionKeys
}

export type EncryptionResult =
  | { readonly id: number; readonly body: Uint8Array<ArrayBuffer> }
  | { readonly id: number; readonly error: string }

/** Number of results per message. Fewer would cost more; with more, the first result would wait longer. */
const resultsPerMessage = 16

parentPort?.on('message', (jobs: readonly EncryptionJob[]) => {
  for (let from = 0; from < jobs.length; from += resultsPerMessage)
    parentPort?.postMessage(jobs.slice(from, from + resultsPerMessage).map(resultOf))
})

function resultOf({ id, payload, keys }: EncryptionJob): EncryptionResult {
  try {
    return { id, body: encrypt(payload, keys) }
  } catch (error) {
    return { id, error: (error as Error).message }
  }
}
