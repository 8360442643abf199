import type { EndpointRules } from '../../../../subjects/providers/web-push/judge-endpoint.ts'
import { judgeKeys } from '../../../../subjects/providers/web-push/vapid.ts'
import type { WebPushOptions } from '../../../../subjects/providers/web-push/web-push.ts'
import type { WebPushConfig } from '../../../../subjects/settings/services/web-push.ts'
import { caOption, refuse } from './files.ts'

/**
 * Converts the settings of a Web Push service to its options.
 *
 * @param path the path of the settings: 'operator.push.devices.services[0]'
 * @throws ConfigError if the keys are not a pair, or `ca` cannot be read
 */
export async function webPushOptions(config: WebPushConfig, path: string): Promise<WebPushOptions> {
  const { ca: _ca, testing: _testing, ...options } = config
  const description = judgeKeys(options)
  if (description !== undefined) {
    const remedy = 'use the key pair with which the site subscribes, or make a new one with: bellwire vapid'
    return refuse(`${path}.private_key`, description, remedy)
  }
  return { ...options, ...endpointRules(config), ...(await caOption(config, path)) }
}

/** The endpoints to which the service sends. */
export const endpointRules = ({ hosts, testing: { origins } }: WebPushConfig): Required<EndpointRules> => ({
  hosts,
  origins: Object.fromEntries(origins.map(({ from, to }) => [from, to])),
})
