// Converts the validated configuration to the options of delivery statuses.

import type { StatusOptions } from '../../operator/statuses.ts'
import type { StatusWebhook } from '../../status/outbox.ts'
import { statusTemplate } from '../../status/senders/template.ts'
import { vendorCallback } from '../../status/senders/vendor-callback.ts'
import { statusWebhook } from '../../status/senders/webhook.ts'
import type { StatusSender } from '../../status/status-sender.ts'
import { httpOptions, templateSettings } from '../services/http-options.ts'
import type { StatusWebhookConfig } from '../status-settings.ts'
import type { OperatorConfig } from '../table.ts'
import { addressOptions, connectionOptions } from './services/address.ts'

export async function statusOptions(config: NonNullable<OperatorConfig['status']>): Promise<StatusOptions> {
  const { polling, webhooks, receipts_from: receiptsFrom } = config
  return { polling, webhooks: await Promise.all(webhooks.map(webhookOptions)), receiptsFrom }
}

async function webhookOptions(
  { brand, to, timeout, retry }: StatusWebhookConfig,
  index: number,
): Promise<StatusWebhook> {
  const sender = await senderOf(to, `operator.status.webhooks[${index}].to`)
  return { brand, sender, timeoutMs: timeout, retry: { firstMs: retry.first, mostMs: retry.most } }
}

async function senderOf(to: StatusWebhookConfig['to'], at: string): Promise<StatusSender> {
  switch (to.is) {
    case 'webhook': {
      const { webhook, secrets, api_key: apiKey, max, connections } = to
      return statusWebhook({ url: webhook, secrets, max, connections, apiKey, ...(await addressOptions(to, at)) })
    }
    case 'template': {
      const { method, statuses, channel } = to
      const connection = await connectionOptions(to, at)
      return statusTemplate({ ...httpOptions(templateSettings(to)), method, statuses, channel, ...connection })
    }
    case 'callback': {
      const { callback, username, password, connections } = to
      const url = new URL(callback)
      // The vendor needs the slash.
      if (!url.pathname.endsWith('/')) url.pathname += '/'
      const connection = await connectionOptions(to, at)
      return vendorCallback({ url: url.href, username, password, connections, ...connection })
    }
  }
}
