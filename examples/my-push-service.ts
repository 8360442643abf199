// Your own push service: it sends to one device, and returns the outcome and a verdict about the device. See devices.yaml.

import type { DeviceAnswer, PushService } from 'bellwire'

export const service: PushService = {
  name: 'pager', // in the log, metrics, alerts and the removal brake
  concurrency: 10, // most sends at a time
  reaches: (device) => device.kind === 'http:pager',
  async send({ ref, device, content, expiresAt }): Promise<DeviceAnswer> {
    // gone: the provider no longer knows this device. It is unlinked, unless implausibly many devices are reported gone.
    if (device.token === 'pager-lost')
      return {
        category: 'failed',
        reason: 'rejected',
        error: 'there is no such pager',
        rule: 'pager: unknown',
        token: 'gone',
      }
    // The ref is the same on every attempt, so the device can show the message once.
    console.log(`pager ${device.token}: ${content.title} (${ref}, until ${new Date(expiresAt).toISOString()})`)
    return { category: 'successful', rule: 'pager: beeped', providerId: `beep-${ref}` }
  },
}
