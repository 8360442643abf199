import type { DeviceSource } from '../../../../subjects/devices/device-source.ts'
import { httpDevices } from '../../../../subjects/devices/sources/http.ts'
import { sqlDevices } from '../../../../subjects/devices/sources/sql.ts'
import type { DevicesConfig } from '../../../../subjects/settings/devices.ts'
import { loadDeviceSource } from '../../module.ts'
import { addressOptions } from './address.ts'
import { refuse } from './files.ts'

/** @param path the path of the setting, for error messages: 'operator.push.devices.source' */
export async function deviceSource(config: DevicesConfig['source'], path: string): Promise<DeviceSource | 'registry'> {
  switch (config?.is) {
    case undefined:
    case 'registry':
      return 'registry'
    case 'sql': {
      try {
        return sqlDevices(config)
      } catch (error) {
        return refuse(`${path}.sql`, (error as Error).message)
      }
    }
    case 'http': {
      const { auth, ...options } = config
      return httpDevices({ ...options, ...(await addressOptions(config, path)) })
    }
    case 'module':
      return loadDeviceSource(config.module, config.name, `${path}.module`)
  }
}
