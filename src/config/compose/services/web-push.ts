import { judgeKeys } from '../../../providers/web-push/vapid.ts'
import type { WebPushOptions } from '../../../providers/web-push/web-push.ts'
import { ConfigError } from '../../problem.ts'
import type { WebPushConfig } from '../../services/web-push.ts'

/**
 * Converts the settings of a Web Push service to its options.
 *
 * @param path the path of the settings: 'operator.push.devices.services[0]'
 * @throws ConfigError if the keys are not a pair
 */
export function webPushOptions(config: WebPushConfig, path: string): WebPushOptions {
  const { name, subject, apps, hosts, origins, per_second: perSecond, concurrency } = config
  const keys = { publicKey: config.public_key, privateKey: config.private_key }
  const description = judgeKeys(keys)
  if (description !== undefined) {
    const remedy = 'use the key pair with which the site subscribes, or make a new one with: bellwire vapid'
    throw new ConfigError([{ path: `${path}.private_key`, where: '', description, remedy }])
  }
  return {
    ...keys,
    name,
    subject,
    hosts,
    perSecond,
    concurrency,
    origins: Object.fromEntries(origins.map(({ from, to }) => [from, to])),
    ...(apps && { apps }),
  }
}
