// Starts a side of a configuration file in the process of the test, on a free port, for tests that need no process of their own.

import type { TestContext } from 'node:test'
import { operatorOptions, platformOptions } from '../../src/sides/config/compose/compose.ts'
import { serverCertificate } from '../../src/sides/config/compose/services/address.ts'
import { loadConfig } from '../../src/sides/config/load.ts'
import type { OperatorConfig, PlatformConfig } from '../../src/sides/config/table.ts'
import { startOperator, startPlatform } from './sides.ts'

export async function startConfiguredOperator(
  t: TestContext,
  file: string,
  env: NodeJS.ProcessEnv = {},
): ReturnType<typeof startOperator> {
  const operator = (await loadConfig(file, env)).operator as OperatorConfig
  const certificate = await serverCertificate(operator.tls, 'operator.tls')
  return startOperator(t, { ...(await operatorOptions(operator)), listen: { certificate } })
}

export async function startConfiguredPlatform(
  t: TestContext,
  file: string,
  env: NodeJS.ProcessEnv = {},
): ReturnType<typeof startPlatform> {
  const platform = (await loadConfig(file, env)).platform as PlatformConfig
  const options = await platformOptions(platform)
  return startPlatform(t, { ...options, lanes: [...options.lanes] })
}
