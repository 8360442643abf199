import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'

const root = join(import.meta.dirname, '../..')

test('each dependency has its licence and its reason in docs/contributing/dependencies.md, and each row a dependency', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Readonly<Record<string, string>>
  }
  const page = readFileSync(join(root, 'docs/contributing/dependencies.md'), 'utf8')
  const rows = [...page.matchAll(/^\| (`.+?`) \| (\S+) \| .+ \|$/gm)].flatMap(([, names = '', licence]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => [name, licence] as const),
  )
  assert.deepEqual(rows.map(([name]) => name).toSorted(), Object.keys(dependencies).toSorted())
  for (const [name, licence] of rows) {
    const { license } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')) as {
      license: string
    }
    assert.equal(licence, license.replace('BSD-0-Clause', '0BSD'), name)
  }
})

/** Of the packages that an installation gets. */
const permissive = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Apache-2.0']
/** Also of the packages that only the tests and the optional features use. */
const others = ['MIT-0', 'MPL-2.0', 'Python-2.0', 'Unlicense', '(MIT OR CC0-1.0)', 'MIT OR Apache-2.0']

test('each package of the lock file has an allowed licence, which its own package.json names', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { readonly license?: string; readonly dev?: boolean }>>
  }
  for (const [path, { license = 'none', dev }] of Object.entries(packages)) {
    const licence = license.replace('BSD-0-Clause', '0BSD')
    assert.ok([...permissive, ...(dev ? others : [])].includes(licence), `${path} has the licence ${licence}`)
    const file = join(root, path, 'package.json')
    // Packages of other processors are not installed.
    if (existsSync(file)) assert.equal(JSON.parse(readFileSync(file, 'utf8')).license, license, path)
  }
})
