// The options of an operator that delivers nothing and changes nothing outside of its own store.

import { present } from '../../base/runtime/present.ts'
import type { OperatorOptions } from '../../sides/operator/options.ts'
import type { PushOptions } from '../../subjects/delivery/compose.ts'
import type { DeviceSource } from '../../subjects/devices/device-source.ts'
import type { PushService } from '../../subjects/providers/push-service.ts'
import { recording } from '../../subjects/providers/recording.ts'

/**
 * Providers accept all messages and send none. Sources of devices and attributes are only read. Nothing is published, reported or alerted.
 * Rates are left out: copies do not come at the pace of the platform.
 *
 * @param store of this operator alone
 * @param knowsDevices whether the registry of `store` has the operator's devices. Otherwise each user of a registry has a device.
 */
export function harmless(options: OperatorOptions, store: string, knowsDevices: boolean): OperatorOptions {
  const { keys, push, site, attributes, suppression, content, deviceLimits, limits } = options
  return {
    store,
    keys: keys.map(({ rate: _, ...key }) => key),
    ...(push && { push: harmlessPush(push, knowsDevices) }),
    ...(site && { site: site === 'inbox' ? site : recording() }),
    ...present({ attributes, suppression, content, deviceLimits, limits }),
  }
}

/** Whether the users' devices are known: from their source, or from an import into the registry. */
export const hasDevices = (push: PushOptions | undefined, imported: boolean): boolean =>
  push !== undefined && 'devices' in push && (imported || push.devices.source !== 'registry')

function harmlessPush(push: PushOptions, knowsDevices: boolean): PushOptions {
  if (!('devices' in push) || !hasDevices(push, knowsDevices)) return recording()
  const { source, services, ...devices } = push.devices
  return {
    devices: {
      ...devices,
      source: source === 'registry' ? source : readOnly(source),
      services: services.map(accepting),
    },
  }
}

/** Without the operations that unlink and mark devices. */
function readOnly(source: DeviceSource): DeviceSource {
  return {
    name: source.name,
    findDevices: (...look) => source.findDevices(...look),
    findHolders: (...look) => source.findHolders(...look),
    close: async () => source.close?.(),
  }
}

/** The service reaches the same devices. It accepts each push, and sends none. */
function accepting(service: PushService): PushService {
  return {
    name: service.name,
    concurrency: service.concurrency,
    reaches: (device) => service.reaches(device),
    send: async () => ({ category: 'successful', rule: 'recorded' }),
    close: async () => service.close?.(),
  }
}
