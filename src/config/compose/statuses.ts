// Converts the validated configuration to the options of delivery statuses.

import type { StatusOptions } from '../../operator/statuses.ts'
import type { StatusWebhook } from '../../status/outbox.ts'
import { vendorCallback } from '../../status/senders/vendor-callback.ts'
import { statusWebhook } from '../../status/senders/webhook.ts'
import type { StatusSender } from '../../status/status-sender.ts'
import type { StatusWebhookConfig } from '../status-settings.ts'
import type { OperatorConfig } from '../table.ts'

export function statusOptions(config: NonNullable<OperatorConfig['status']>): StatusOptions {
  const { polling, webhooks, receipts_from: receiptsFrom } = config
  return { polling, webhooks: webhooks.map(webhookOptions), receiptsFrom }
}

function webhookOptions({ brand, to, timeout, retry }: StatusWebhookConfig): StatusWebhook {
  return { brand, sender: senderOf(to), timeoutMs: timeout, retry: { firstMs: retry.first, mostMs: retry.most } }
}

function senderOf(to: StatusWebhookConfig['to']): StatusSender {
  switch (to.is) {
    case 'webhook': {
      const { webhook, secrets, api_key: apiKey, max, connections } = to
      return statusWebhook({ url: webhook, secrets, max, connections, ...(apiKey !== undefined && { apiKey }) })
    }
    case 'callback': {
      const { callback, username, password, connections } = to
      // The kind `url` removes the slash at the end, which the vendor needs.
      return vendorCallback({ url: `${callback}/`, username, password, connections })
    }
  }
}
