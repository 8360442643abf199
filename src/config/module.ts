// `module: ./mine.ts`: the way of a user's own code into a running side (design §3).

import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AttributeSource } from '../attributes/attribute-source.ts'
import type { DeviceSource } from '../devices/device-source.ts'
import type { Provider } from '../providers/provider.ts'
import type { PushService } from '../providers/push-service.ts'
import { ConfigError, closestName } from './problem.ts'

/**
 * Imports a Provider from a file of the user's and checks its shape.
 *
 * @throws ConfigError that names what is missing
 * @example const provider = await loadProvider('/srv/mine.ts', 'provider', 'operator.push')
 */
export async function loadProvider(file: string, name: string, path: string): Promise<Provider> {
  return load<Provider>(file, name, path, (provider) => [
    typeof provider.name !== 'string' && 'name: expected a text',
    !(Number.isInteger(provider.max) && provider.max >= 1) && 'max: expected a whole number of messages, at least 1',
    typeof provider.send !== 'function' &&
      'send: expected a function (messages, context) that answers once for each message',
  ])
}

/** Likewise an AttributeSource. */
export async function loadSource(file: string, name: string, path: string): Promise<AttributeSource> {
  return load<AttributeSource>(file, name, path, (source) => [
    typeof source.name !== 'string' && 'name: expected a text',
    !Array.isArray(source.fields) && "fields: expected a list such as ['blocked', 'excluded']",
    source.all !== undefined &&
      typeof source.all !== 'function' &&
      'all: expected a function (brand, field, {signal}), or nothing',
    typeof source.among !== 'function' && 'among: expected a function (brand, userIds, fields, context)',
  ])
}

/** Likewise a PushService. */
export async function loadPushService(file: string, name: string, path: string): Promise<PushService> {
  return load<PushService>(file, name, path, (service) => [
    typeof service.name !== 'string' && 'name: expected a text, other than that of every other push service',
    typeof service.reaches !== 'function' && 'reaches: expected a function (device) that says whether it can reach it',
    !(Number.isInteger(service.concurrency) && service.concurrency >= 1) &&
      'concurrency: expected a whole number of sends at a time, at least 1',
    typeof service.send !== 'function' && 'send: expected a function (push, context) that answers for one device',
  ])
}

/** Likewise a DeviceSource. */
export async function loadDeviceSource(file: string, name: string, path: string): Promise<DeviceSource> {
  return load<DeviceSource>(file, name, path, (source) => [
    typeof source.name !== 'string' && 'name: expected a text',
    typeof source.of !== 'function' && 'of: expected a function (brand, userIds, look) that gives a Map of devices',
    typeof source.holders !== 'function' && 'holders: expected a function (brand, tokens, look) that gives a Map',
  ])
}

async function load<T extends object>(
  file: string,
  name: string,
  path: string,
  faults: (value: T) => (string | false)[],
): Promise<T> {
  const refuse = (what: string, remedy: string): never => {
    throw new ConfigError([{ path, where: basename(file), what, remedy }])
  }
  let exported: Record<string, unknown>
  try {
    exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const remedy =
      code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING'
        ? 'Node runs no TypeScript below node_modules: copy the file, and the configuration that names it, into your project'
        : 'paths count from the configuration file'
    return refuse(`cannot be imported: ${message}`, remedy)
  }
  const value = exported[name]
  if (typeof value !== 'object' || value === null) {
    const names = Object.keys(exported)
    const suggestion = closestName(name, names)
    const there = suggestion
      ? `did you mean ${suggestion}? Set name: ${suggestion}`
      : `it exports: ${names.join(', ') || 'nothing'}; set name: to one`
    return refuse(`exports no object named ${name}`, there)
  }
  const wrong = faults(value as T).filter((fault) => fault !== false)
  if (wrong.length > 0) refuse(`${name} is not what is needed here`, wrong.join('; '))
  return value as T
}
