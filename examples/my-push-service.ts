// A push service of your own: it reaches one device at a time, and says what became of the message and what that says of the
// device. See devices.yaml.

import type { DeviceAnswer, PushService } from 'bellwire'

export const service: PushService = {
  name: 'pager', // of log, metrics, alerts and the removal brake
  concurrency: 10, // most sends at a time
  reaches: (device) => device.kind === 'http:pager',
  async send({ ref, device, content, expiresAt }): Promise<DeviceAnswer> {
    // gone: the provider does not know this device any more. It is removed, unless that is said of too many.
    if (device.token === 'pager-lost')
      return {
        category: 'failed',
        reason: 'rejected',
        error: 'there is no such pager',
        rule: 'pager: unknown',
        token: 'gone',
      }
    // The ref is the same on every attempt: whoever shows it shows it once.
    console.log(`pager ${device.token}: ${content.title} (${ref}, until ${new Date(expiresAt).toISOString()})`)
    return { category: 'successful', rule: 'pager: beeped', providerId: `beep-${ref}` }
  },
}
