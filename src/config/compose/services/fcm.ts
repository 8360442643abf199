import type { FcmOptions } from '../../../providers/fcm/fcm.ts'
import { readServiceAccount, type ServiceAccount } from '../../../providers/fcm/service-account.ts'
import type { FcmConfig } from '../../services/fcm.ts'
import { fileOrText, readCa, refuse } from './files.ts'

/**
 * Converts the settings to options, and reads the files that they name.
 *
 * @param path the path of the settings: 'operator.push.devices.services[0]'
 * @throws ConfigError that names the setting and the remedy
 */
export async function fcmOptions(config: FcmConfig, path: string): Promise<FcmOptions> {
  const { name, apps, base_url: baseUrl, per_second: perSecond, concurrency, connections, proxy } = config
  const serviceAccount = await loadServiceAccount(config, path)
  const ca = await readCa(config.ca, `${path}.ca`)
  return {
    name,
    serviceAccount,
    baseUrl,
    perSecond,
    concurrency,
    connections,
    proxy,
    ...(apps && { apps }),
    ...(ca !== undefined && { ca }),
  }
}

async function loadServiceAccount(config: FcmConfig, path: string): Promise<ServiceAccount> {
  const read = await fileOrText({
    file: config.credentials,
    text: config.credentials_json,
    filePath: `${path}.credentials`,
    textPath: `${path}.credentials_json`,
    remedy: 'download the key of a service account in the Firebase console (Project settings, Service accounts)',
  })
  try {
    return readServiceAccount(read.text)
  } catch (error) {
    return refuse(read.path, (error as Error).message)
  }
}
