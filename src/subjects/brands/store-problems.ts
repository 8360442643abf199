// Checks the stores of the platform against each other.

import { serverAddresses } from '../../base/runtime/address.ts'
import type { Fault } from '../../base/runtime/problem.ts'
import type { StoreSettings } from './configured-stores.ts'

/** @param prefix of the paths, such as 'platform.' */
export function storeProblems({ store, stores = [] }: StoreSettings, prefix = ''): readonly Fault[] {
  if (stores.length === 0) return []
  const problems: Fault[] = []
  if (store.startsWith('sqlite:'))
    problems.push({
      path: `${prefix}store`,
      description: 'is a SQLite file, which cannot have further stores',
      remedy: 'name a PostgreSQL database, or leave out stores',
    })
  const placeOf = new Map([[placeAt(store), 'store']])
  const storeOfNumber = new Map<number, string>()
  const storeOfBrand = new Map<string, string>()
  for (const [i, { number, url, brands }] of stores.entries()) {
    const name = `stores[${i}]`
    const wrong = (member: string, description: string, remedy: string): void =>
      void problems.push({ path: `${prefix}${name}.${member}`, description, remedy })
    if (url.startsWith('sqlite:'))
      wrong('url', 'is a SQLite file', 'name a PostgreSQL database: one process uses one SQLite file anyway')
    const place = placeOf.get(placeAt(url))
    if (place)
      wrong('url', `is the same database as ${prefix}${place}`, 'give each store a database or a schema of its own')
    placeOf.set(placeAt(url), name)
    const namesake = storeOfNumber.get(number)
    if (namesake) wrong('number', `is the number of ${prefix}${namesake}`, 'give each store its own number')
    storeOfNumber.set(number, name)
    for (const brand of brands) {
      const home = storeOfBrand.get(brand)
      if (home) wrong('brands', `brand ${brand} is in ${prefix}${home}`, 'list each brand once')
      storeOfBrand.set(brand, name)
    }
  }
  return problems
}

/** The database of an address, without the user and the password. */
export function placeAt(url: string): string {
  const servers = serverAddresses(url)
  if (url.startsWith('sqlite:') || !servers.every((each) => URL.canParse(each))) return url
  const hosts = servers.map((each) => new URL(each)).map(({ hostname, port }) => `${hostname}:${port || '5432'}`)
  const { pathname, searchParams } = new URL(servers[0] as string)
  return `${hosts.sort().join(',')}${pathname}?${searchParams.get('schema') ?? ''}`
}
