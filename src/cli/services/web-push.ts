import { ConfigError } from '../../config/problem.ts'
import type { WebPushConfig } from '../../config/services/web-push.ts'
import { judgeKeys } from '../../providers/web-push/vapid.ts'
import type { WebPushOptions } from '../../providers/web-push/web-push.ts'

/**
 * From the settings of a web-push service to its options.
 *
 * @param path where the settings are: 'operator.push.devices.services[0]'
 * @throws ConfigError where the keys are not a pair
 */
export function webPushOptions(config: WebPushConfig, path: string): WebPushOptions {
  const { name, subject, apps, hosts, origins, concurrency } = config
  const keys = { publicKey: config.public_key, privateKey: config.private_key }
  const what = judgeKeys(keys)
  if (what !== undefined) {
    const remedy = 'take both from the pair that the site subscribes with, or make a new one with: bellwire vapid'
    throw new ConfigError([{ path: `${path}.private_key`, where: '', what, remedy }])
  }
  return {
    ...keys,
    name,
    subject,
    hosts,
    concurrency,
    origins: Object.fromEntries(origins.map(({ from, to }) => [from, to])),
    ...(apps && { apps }),
  }
}
