import type { FcmOptions } from '../../../../subjects/providers/fcm/fcm.ts'
import { readServiceAccount } from '../../../../subjects/providers/fcm/service-account.ts'
import type { FcmConfig } from '../../../../subjects/settings/services/fcm.ts'
import { caOption, fileOrText } from './files.ts'

/**
 * Converts the settings to options, and reads the files that they name.
 *
 * @param path the path of the settings: 'operator.push.devices.services[0]'
 * @throws ConfigError that names the setting and the remedy
 */
export async function fcmOptions(config: FcmConfig, path: string): Promise<FcmOptions> {
  const { credentials: _file, credentialsJson: _text, ca: _ca, testing, ...options } = config
  return {
    ...options,
    ...testing,
    serviceAccount: await fileOrText({
      file: config.credentials,
      text: config.credentialsJson,
      filePath: `${path}.credentials`,
      textPath: `${path}.credentials_json`,
      remedy: 'download the key of a service account in the Firebase console (Project settings, Service accounts)',
      parse: readServiceAccount,
    }),
    ...(await caOption(config, path)),
  }
}
