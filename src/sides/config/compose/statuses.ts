// Converts the validated configuration to the options of delivery statuses.

import { authOptions } from '../../../subjects/settings/address.ts'
import type { StatusWebhookConfig } from '../../../subjects/settings/status.ts'
import type { StatusWebhook } from '../../../subjects/status/outbox.ts'
import { statusTemplate } from '../../../subjects/status/senders/template.ts'
import { vendorCallback } from '../../../subjects/status/senders/vendor-callback.ts'
import { statusWebhook } from '../../../subjects/status/senders/webhook.ts'
import type { StatusSender } from '../../../subjects/status/status-sender.ts'
import type { StatusOptions } from '../../operator/statuses.ts'
import { httpOptions, templateSettings } from '../http-options.ts'
import type { OperatorConfig } from '../table.ts'
import { addressOptions, connectionOptions } from './services/address.ts'

export async function statusOptions(config: NonNullable<OperatorConfig['status']>): Promise<StatusOptions> {
  const { polling, webhooks, receiptsFrom } = config
  return { polling, webhooks: await Promise.all(webhooks.map(webhookOptions)), receiptsFrom }
}

async function webhookOptions({ to, ...options }: StatusWebhookConfig, index: number): Promise<StatusWebhook> {
  return { ...options, sender: await senderOf(to, `operator.status.webhooks[${index}].to`) }
}

async function senderOf(to: StatusWebhookConfig['to'], at: string): Promise<StatusSender> {
  switch (to.is) {
    case 'webhook': {
      const { url, secrets, apiKey, max, connections } = to
      return statusWebhook({ url, secrets, max, connections, apiKey, ...(await addressOptions(to, at)) })
    }
    case 'template': {
      const { method, statuses, channel } = to
      const connection = await connectionOptions(to, at)
      return statusTemplate({ ...httpOptions(templateSettings(to)), method, statuses, channel, ...connection })
    }
    case 'callback': {
      const url = new URL(to.url)
      // The vendor needs the slash.
      if (!url.pathname.endsWith('/')) url.pathname += '/'
      const connection = await connectionOptions(to, at)
      return vendorCallback({ url: url.href, auth: authOptions(to.auth), connections: to.connections, ...connection })
    }
  }
}
