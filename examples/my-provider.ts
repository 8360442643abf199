// A provider of your own: it gets messages and answers for each with successful, failed (final) or fatal (again).
// See examples/modules.yaml. In a project of yours: import type { Provider } from 'bellwire'

import type { Provider, Result } from '../src/providers/provider.ts'

export const provider: Provider = {
  name: 'console',
  max: 100, // most messages in one call
  async send(messages) {
    return messages.map((message): Result => {
      const { title } = JSON.parse(message.text) as { title?: string }
      if (!title) return { category: 'failed', reason: 'invalid', error: 'there is no title', rule: 'console: title' }
      console.log(`to ${message.userId} of brand ${message.brand}: ${title}`)
      return { category: 'successful', ref: message.ref, rule: 'console: printed' }
    })
  },
}
