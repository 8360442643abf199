// Your own provider: it takes messages and returns successful, failed (final) or fatal (to be sent again) for each.
// See modules.yaml.

import type { Provider, Result } from 'bellwire'

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
