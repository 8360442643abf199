import { hostname } from 'node:os'
import type { AlertSender } from '../../../subjects/alerts/alerts.ts'
import type { OperatorConfig } from '../table.ts'
import { addressOptions } from './services/address.ts'

export type AlertsConfig = NonNullable<OperatorConfig['alerts']>

/** @param side also the section of the configuration */
export async function alertSenders(
  { to }: AlertsConfig,
  side: 'operator' | 'platform',
): Promise<readonly AlertSender[]> {
  const origin = `${side} on ${hostname()}`
  return Promise.all(
    to.map(async (receiver, i) => {
      if (receiver.is === 'mail') {
        // Loaded only where mail is configured.
        const { alertMail } = await import('../../../subjects/alerts/senders/mail.ts')
        return alertMail({ ...receiver, origin })
      }
      const { alertWebhook } = await import('../../../subjects/alerts/senders/webhook.ts')
      const { url, body } = receiver
      return alertWebhook({ url, body, origin, ...(await addressOptions(receiver, `${side}.alerts.to[${i}]`)) })
    }),
  )
}
