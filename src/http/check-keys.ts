import { brandForm, keyForm, type OptionChecks, optionNames, textForm, wordForm } from '../runtime/forms.ts'
import type { AccessKey, Scope } from './access.ts'

export const scopes: readonly Scope[] = ['enqueue', 'read', 'manage', 'devices', 'tokens']

const accessKeyNames = optionNames<AccessKey>({ name: true, key: true, scopes: true, brands: true })

interface AnyKey {
  readonly name: string
  readonly key: string
  readonly brands?: readonly string[]
}

/** Checks that each key has a name, a key and valid brands, and that names and keys are unique. */
export function checkKeys({ required, wrong }: OptionChecks, path: string, keys: readonly AnyKey[]): void {
  for (const [i, { name, key, brands = [] }] of keys.entries()) {
    required(`${path}[${i}].name`, name, textForm)
    required(`${path}[${i}].key`, key, keyForm)
    for (const [j, brand] of brands.entries()) required(`${path}[${i}].brands[${j}]`, brand, brandForm)
    const others = keys.slice(0, i)
    if (others.some((other) => other.name === name))
      wrong({
        path: `${path}[${i}]`,
        description: 'another key has the same name',
        remedy: 'give each key a name of its own',
      })
    if (key && others.some((other) => other.key === key))
      wrong({ path: `${path}[${i}]`, description: 'this key appears twice', remedy: keyForm.remedy })
  }
}

/** Checks keys for /admin, including their scopes. */
export function checkAccessKeys(checks: OptionChecks, path: string, keys: readonly AccessKey[]): void {
  checkKeys(checks, path, keys)
  for (const [i, key] of keys.entries()) {
    checks.known(`${path}[${i}]`, key, accessKeyNames)
    const remedy = `write scopes: ['read'], or the scopes that this key needs: ${scopes.join(', ')}`
    checks.filled(`${path}[${i}].scopes`, key.scopes, remedy)
    for (const [j, scope] of (key.scopes ?? []).entries())
      checks.required(`${path}[${i}].scopes[${j}]`, scope, wordForm(...scopes))
  }
}
