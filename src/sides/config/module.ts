// Loads a user's own code for settings such as `module: ./mine.ts`.

import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AttributeSource } from '../../subjects/attributes/attribute-source.ts'
import type { SuppressionRule } from '../../subjects/delivery/suppress.ts'
import type { DeviceSource } from '../../subjects/devices/device-source.ts'
import type { Provider } from '../../subjects/providers/provider.ts'
import type { PushService } from '../../subjects/providers/push-service.ts'
import { ConfigError, closestName } from './problem.ts'

/**
 * Imports a Provider from a user's file and checks its members.
 *
 * @throws ConfigError that names the missing members
 * @example const provider = await loadProvider('/srv/mine.ts', 'provider', 'operator.push')
 */
export async function loadProvider(file: string, name: string, path: string): Promise<Provider> {
  return load<Provider>(file, name, path, (provider) => [
    typeof provider.name !== 'string' && 'name: expected a text',
    !(Number.isInteger(provider.max) && provider.max >= 1) && 'max: expected a whole number of messages, at least 1',
    typeof provider.send !== 'function' &&
      'send: expected a function (messages, context) that returns one result per message',
  ])
}

/** Imports an AttributeSource in the same way. */
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

/** Imports a PushService in the same way. */
export async function loadPushService(file: string, name: string, path: string): Promise<PushService> {
  return load<PushService>(file, name, path, (service) => [
    typeof service.name !== 'string' && 'name: expected a text, unique among the push services',
    typeof service.reaches !== 'function' &&
      'reaches: expected a function (device) that returns whether the service can reach the device',
    !(Number.isInteger(service.concurrency) && service.concurrency >= 1) &&
      'concurrency: expected a whole number of concurrent sends, at least 1',
    service.perSecond !== undefined &&
      !(service.perSecond > 0) &&
      'perSecond: expected the most sends in a second, above 0, or nothing',
    typeof service.send !== 'function' &&
      'send: expected a function (push, context) that returns the result for one device',
  ])
}

/** Imports a DeviceSource in the same way. */
export async function loadDeviceSource(file: string, name: string, path: string): Promise<DeviceSource> {
  return load<DeviceSource>(file, name, path, (source) => [
    typeof source.name !== 'string' && 'name: expected a text',
    typeof source.findDevices !== 'function' &&
      'findDevices: expected a function (brand, userIds, context) that returns a Map of devices',
    typeof source.findHolders !== 'function' &&
      'findHolders: expected a function (brand, tokens, context) that returns a Map',
  ])
}

/** Imports a rule of suppression: a function. */
export async function loadRule(file: string, name: string, path: string): Promise<SuppressionRule> {
  return load<SuppressionRule>(file, name, path, (rule) => [
    typeof rule !== 'function' && `${name}: expected a function (message, context) that returns a reason, or undefined`,
  ])
}

async function load<T extends object>(
  file: string,
  name: string,
  path: string,
  faults: (value: T) => (string | false)[],
): Promise<T> {
  const refuse = (description: string, remedy: string): never => {
    throw new ConfigError([{ path, where: basename(file), description, remedy }])
  }
  let exported: Record<string, unknown>
  try {
    exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>
  } catch (error) {
    return refuse(`cannot be imported: ${(error as Error).message}`, remedyFor(error as NodeJS.ErrnoException))
  }
  const value = exported[name]
  if (!(typeof value === 'object' || typeof value === 'function') || value === null) {
    const names = Object.keys(exported)
    const suggestion = closestName(name, names)
    const remedy = suggestion
      ? `did you mean ${suggestion}? Set name: ${suggestion}`
      : `exports: ${names.join(', ') || 'none'}; set name: to one of them`
    return refuse(`exports no object named ${name}`, remedy)
  }
  const found = faults(value as T).filter((fault) => fault !== false)
  if (found.length > 0) refuse(`${name} has missing or invalid members`, found.join('; '))
  return value as T
}

function remedyFor({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING')
    return 'Node runs no TypeScript below node_modules: copy the file, and the configuration that names it, into your project'
  if (/Unexpected token 'export'|import statement outside a module/.test(message))
    return 'the package.json of the project says "type": "commonjs", as npm init writes it: run npm pkg set type=module'
  return 'paths are relative to the configuration file'
}
