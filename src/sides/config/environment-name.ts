/**
 * The environment variable that overrides a setting.
 *
 * @example environmentName('operator.keys[0].key') // 'BELLWIRE_OPERATOR_KEYS_0_KEY'
 */
export function environmentName(path: string): string {
  return `BELLWIRE_${path
    .replace(/[^a-z0-9]+/gi, '_')
    .replace(/_$/, '')
    .toUpperCase()}`
}
