// A platform process that delivers by itself. argv: the store, the port, the witness file, and the message that its provider never answers.

import { appendFileSync } from 'node:fs'
import { listen } from '../../src/base/http/http.ts'
import { chain } from '../../src/base/http/mount.ts'
import { createPlatform } from '../../src/sides/platform/create-platform.ts'
import { adminKey } from '../support/sides.ts'

const [store = '', port = '', witness = '', unanswered] = process.argv.slice(2)
const platform = createPlatform({
  store,
  keys: [adminKey],
  lanes: [
    { brand: '1', channel: 'push', mode: 'batch', provider: 'own', spanMs: 1, retry: { firstMs: 10, mostMs: 50 } },
  ],
  own: {
    suppression: 'none',
    push: {
      name: 'witness',
      max: 1,
      async send(messages) {
        for (const { id, ref } of messages) appendFileSync(witness, `${id} ${ref}\n`)
        if (messages.some(({ id }) => id === unanswered)) await new Promise(() => {})
        return messages.map(({ ref }) => ({ category: 'successful', ref, rule: 'recorded by the witness' }))
      },
    },
  },
})
await platform.start()
await listen('platform', chain(platform.handler, platform.admin.handler), { port: Number(port) })
process.send?.('ready')
