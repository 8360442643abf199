import type { SuppressionOptions } from '../../../subjects/delivery/suppress.ts'
import { loadRule } from '../module.ts'
import type { OperatorConfig, PlatformConfig } from '../table.ts'

type SuppressionConfig = OperatorConfig['suppression'] | NonNullable<PlatformConfig['own']>['suppression']

/** @param at the path of the settings: operator.suppression or platform.own.suppression */
export async function suppressionOptions(
  config: SuppressionConfig,
  at: string,
): Promise<{ suppression?: SuppressionOptions | 'none' }> {
  if (config === undefined) return {}
  if (config.is === 'none') return { suppression: 'none' }
  const { is, module, name, ...options } = config
  const rule = module === undefined ? {} : { rule: await loadRule(module, name, `${at}.module`) }
  return { suppression: { ...options, ...rule } }
}
