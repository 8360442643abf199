// The thread that encrypts, but one message is its last.

import { parentPort } from 'node:worker_threads'

parentPort?.on('message', (asked: readonly { payload: Uint8Array }[]) => {
  if (asked.some(({ payload }) => Buffer.from(payload).toString() === 'die')) process.exit(1)
})
await import('../../src/providers/web-push/encrypt-thread.ts')
