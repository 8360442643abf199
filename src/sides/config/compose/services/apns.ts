import type { ApnsOptions } from '../../../../subjects/providers/apns/apns.ts'
import { apnsSigningKey } from '../../../../subjects/providers/apns/provider-token.ts'
import type { ApnsConfig } from '../../../../subjects/settings/services/apns.ts'
import { caOption, fileOrText, refuse } from './files.ts'

/**
 * Converts the settings to options, and reads the files that they name.
 *
 * @param path the path of the settings: 'operator.push.devices.services[1]'
 * @throws ConfigError that names the setting and the remedy
 */
export async function apnsOptions(config: ApnsConfig, path: string): Promise<ApnsOptions> {
  const { key: _file, keyText: _text, ca: _ca, testing, ...options } = config
  for (const [setting, id] of [
    ['key_id', options.keyId],
    ['team_id', options.teamId],
  ] as const) {
    if (!/^[A-Z0-9]{10}$/.test(id))
      refuse(
        `${path}.${setting}`,
        'must be 10 capital letters and digits',
        'copy it from developer.apple.com, Membership and Keys',
      )
  }
  const key = await fileOrText({
    file: config.key,
    text: config.keyText,
    filePath: `${path}.key`,
    textPath: `${path}.key_text`,
    remedy: 'write the path of the .p8 file, which Apple offers for download only once, when the key is created',
    parse(text) {
      apnsSigningKey(text)
      return text
    },
  })
  return { ...options, ...testing, key, ...(await caOption(config, path)) }
}
