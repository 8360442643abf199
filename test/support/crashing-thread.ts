// The encryption thread, except that it exits when the payload of a message is "die".

import { parentPort } from 'node:worker_threads'

parentPort?.on('message', (messages: readonly { payload: Uint8Array }[]) => {
  if (messages.some(({ payload }) => Buffer.from(payload).toString() === 'die')) process.exit(1)
})
await import('../../src/subjects/providers/web-push/encrypt-thread.ts')
