import type { AccessKey, Scope } from './access.ts'
import { brandForm, keyForm, type OptionChecks, textForm, wordForm } from './forms.ts'

export const scopes: readonly Scope[] = ['enqueue', 'read', 'manage', 'devices', 'tokens']

interface AnyKey {
  readonly name: string
  readonly key: string
  readonly brands?: readonly string[]
}

/** What every key must have, whatever it opens. */
export function checkKeys({ required, wrong }: OptionChecks, path: string, keys: readonly AnyKey[]): void {
  for (const [i, { name, key, brands = [] }] of keys.entries()) {
    required(`${path}[${i}].name`, name, textForm)
    required(`${path}[${i}].key`, key, keyForm)
    for (const [j, brand] of brands.entries()) required(`${path}[${i}].brands[${j}]`, brand, brandForm)
    const others = keys.slice(0, i)
    if (others.some((other) => other.name === name))
      wrong({ path: `${path}[${i}]`, what: 'this name is taken', remedy: 'give each key a name of its own' })
    if (key && others.some((other) => other.key === key))
      wrong({ path: `${path}[${i}]`, what: 'this key is there twice', remedy: keyForm.remedy })
  }
}

/** Keys for /admin. */
export function checkAccessKeys(look: OptionChecks, path: string, keys: readonly AccessKey[]): void {
  checkKeys(look, path, keys)
  for (const [i, key] of keys.entries()) {
    const remedy = `write scopes: ['read'], or those of ${scopes.join(', ')} that it needs`
    look.filled(`${path}[${i}].scopes`, key.scopes, remedy)
    for (const [j, scope] of (key.scopes ?? []).entries())
      look.required(`${path}[${i}].scopes[${j}]`, scope, wordForm(...scopes))
  }
}
