import type { SuppressionOptions } from '../../delivery/suppress.ts'
import { loadRule } from '../module.ts'

interface Rules {
  readonly fields?: SuppressionOptions['fields']
  readonly exempt: { readonly activities: readonly string[]; readonly trigger_hashes: readonly string[] }
  readonly module?: string
  readonly name: string
}

/** @param at the path of the settings: operator.suppression or platform.own.suppression */
export async function suppressionOptions(
  { fields, exempt, module, name }: Rules,
  at: string,
): Promise<SuppressionOptions> {
  return {
    ...(fields && { fields }),
    exempt: { activities: exempt.activities, triggerHashes: exempt.trigger_hashes },
    ...(module !== undefined && { rule: await loadRule(module, name, `${at}.module`) }),
  }
}
