// Converts the settings of push to devices to options of createOperator.

import type { PushDevices } from '../../../../subjects/delivery/compose.ts'
import type { Judge } from '../../../../subjects/devices/device-event.ts'
import { apns } from '../../../../subjects/providers/apns/apns.ts'
import { fcm } from '../../../../subjects/providers/fcm/fcm.ts'
import type { PushService } from '../../../../subjects/providers/push-service.ts'
import { judgeEndpoint } from '../../../../subjects/providers/web-push/judge-endpoint.ts'
import { type WebPushOptions, webPush } from '../../../../subjects/providers/web-push/web-push.ts'
import type { DevicesConfig, PushServiceConfig } from '../../../../subjects/settings/devices.ts'
import { loadPushService } from '../../module.ts'
import { apnsOptions } from './apns.ts'
import { deviceSource } from './device-source.ts'
import { fcmOptions } from './fcm.ts'
import { refuse } from './files.ts'
import { composeHttpService } from './http.ts'
import { endpointRules, webPushOptions } from './web-push.ts'

/**
 * @param at the path of the settings: 'operator.push.devices'
 * @param receipts for Web Push
 */
export async function pushDevices(
  config: DevicesConfig,
  at: string,
  receipts?: WebPushOptions['receipts'],
): Promise<PushDevices> {
  const { removals, ...options } = config
  const services = await Promise.all(
    config.services.map((service, i) => pushService(service, `${at}.services[${i}]`, receipts)),
  )
  refuseDuplicateNames(services, at)
  return {
    ...options,
    source: await deviceSource(config.source, `${at}.source`),
    services,
    removals: { devices: removals.devices, share: removals.percent / 100 },
  }
}

/** Allows a browser subscription to be linked only if a Web Push service would send to its endpoint, which is untrusted input. */
export function judgeOf({ services }: DevicesConfig): Judge {
  const rules = services.flatMap((service) => (service.is === 'web-push' ? [endpointRules(service)] : []))
  return ({ token }) => {
    const faults = rules.map((rule) => judgeEndpoint(token, rule))
    return faults.includes(undefined) ? undefined : faults[0]
  }
}

async function pushService(
  config: PushServiceConfig,
  path: string,
  receipts: WebPushOptions['receipts'],
): Promise<PushService> {
  const { brands } = config
  const service = await createService(config, path, receipts)
  if (!brands) return service
  return {
    name: service.name,
    concurrency: service.concurrency,
    perSecond: service.perSecond,
    ...(service.perCounterpart !== undefined && { perCounterpart: service.perCounterpart }),
    ...(service.counterpartOf && { counterpartOf: (device) => service.counterpartOf?.(device) ?? '' }),
    reaches: (device) => brands.includes(device.brand) && service.reaches(device),
    send: (push, context) => service.send(push, context),
    ...(service.check && { check: async () => service.check?.() ?? [] }),
    ...(service.close && { close: async () => service.close?.() }),
  }
}

/** One case per kind of push service. */
async function createService(
  config: PushServiceConfig,
  path: string,
  receipts: WebPushOptions['receipts'],
): Promise<PushService> {
  switch (config.is) {
    case 'fcm':
      return fcm(await fcmOptions(config, path))
    case 'apns':
      return apns(await apnsOptions(config, path))
    case 'web-push':
      return webPush({ ...(await webPushOptions(config, path)), receipts })
    case 'http':
      return composeHttpService(config, path)
    case 'module':
      return loadPushService(config.module, config.name, `${path}.module`)
  }
}

function refuseDuplicateNames(services: readonly PushService[], at: string): void {
  const names = services.map(({ name }) => name)
  const duplicate = names.findIndex((name, i) => names.indexOf(name) < i)
  if (duplicate < 0) return
  const remedy = 'give each service its own name: pauses, alerts and removals refer to it'
  refuse(`${at}.services[${duplicate}]`, `another push service is also named ${names[duplicate]}`, remedy)
}
