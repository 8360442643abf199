import type { ApnsOptions } from '../../../providers/apns/apns.ts'
import { apnsSigningKey } from '../../../providers/apns/provider-token.ts'
import type { ApnsConfig } from '../../services/apns.ts'
import { fileOrText, readCa, refuse } from './files.ts'

/**
 * Converts the settings to options, and reads the files that they name.
 *
 * @param path the path of the settings: 'operator.push.devices.services[1]'
 * @throws ConfigError that names the setting and the remedy
 */
export async function apnsOptions(config: ApnsConfig, path: string): Promise<ApnsOptions> {
  const {
    name,
    key_id: keyId,
    team_id: teamId,
    topic,
    apps,
    environments,
    per_second: perSecond,
    concurrency,
    connections,
    proxy,
  } = config
  for (const [setting, id] of [
    ['key_id', keyId],
    ['team_id', teamId],
  ] as const) {
    if (!/^[A-Z0-9]{10}$/.test(id))
      refuse(
        `${path}.${setting}`,
        'must be 10 capital letters and digits',
        'copy it from developer.apple.com, Membership and Keys',
      )
  }
  const key = await signingKey(config, path)
  const ca = await readCa(config.ca, `${path}.ca`)
  return {
    name,
    key,
    keyId,
    teamId,
    topic,
    baseUrl: config.base_url,
    sandboxUrl: config.sandbox_url,
    perSecond,
    concurrency,
    connections,
    proxy,
    ...(apps && { apps }),
    ...(environments && { environments }),
    ...(ca !== undefined && { ca }),
  }
}

async function signingKey(config: ApnsConfig, path: string): Promise<string> {
  const read = await fileOrText({
    file: config.key,
    text: config.key_text,
    filePath: `${path}.key`,
    textPath: `${path}.key_text`,
    remedy: 'write the path of the .p8 file, which Apple offers for download only once, when the key is created',
  })
  try {
    apnsSigningKey(read.text)
    return read.text
  } catch (error) {
    return refuse(read.path, (error as Error).message)
  }
}
