// Loads a user's own code for settings such as `module: ./mine.ts`.

import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AttributeSource } from '../../subjects/attributes/attribute-source.ts'
import type { SuppressionRule } from '../../subjects/delivery/suppress.ts'
import type { DeviceSource } from '../../subjects/devices/device-source.ts'
import type { Provider } from '../../subjects/providers/provider.ts'
import type { PushService } from '../../subjects/providers/push-service.ts'
import {
  deviceSourceFaults,
  type MemberFault,
  providerFaults,
  serviceFaults,
  sourceFaults,
} from '../../subjects/settings/own-code.ts'
import { ConfigError, closestName } from './problem.ts'

/**
 * Imports a Provider from a user's file and checks its members.
 *
 * @throws ConfigError that names the missing members
 * @example const provider = await loadProvider('/srv/mine.ts', 'provider', 'operator.push')
 */
export const loadProvider = (file: string, name: string, path: string): Promise<Provider> =>
  load(file, name, path, providerFaults)

/** Imports an AttributeSource in the same way. */
export const loadSource = (file: string, name: string, path: string): Promise<AttributeSource> =>
  load(file, name, path, sourceFaults)

/** Imports a PushService in the same way. */
export const loadPushService = (file: string, name: string, path: string): Promise<PushService> =>
  load(file, name, path, serviceFaults)

/** Imports a DeviceSource in the same way. */
export const loadDeviceSource = (file: string, name: string, path: string): Promise<DeviceSource> =>
  load(file, name, path, deviceSourceFaults)

/** Imports a rule of suppression: a function. */
export async function loadRule(file: string, name: string, path: string): Promise<SuppressionRule> {
  return load<SuppressionRule>(file, name, path, (rule) => [
    typeof rule !== 'function' && [name, 'expected a function (message, context) that returns a reason, or undefined'],
  ])
}

async function load<T extends object>(
  file: string,
  name: string,
  path: string,
  faults: (value: T) => readonly (MemberFault | false)[],
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
  if (found.length > 0)
    refuse(`${name} has missing or invalid members`, found.map((fault) => fault.join(': ')).join('; '))
  return value as T
}

function remedyFor({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING')
    return 'Node runs no TypeScript below node_modules: copy the file, and the configuration that names it, into your project'
  if (/Unexpected token 'export'|import statement outside a module/.test(message))
    return 'the package.json of the project says "type": "commonjs", as npm init writes it: run npm pkg set type=module'
  return 'paths are relative to the configuration file'
}
