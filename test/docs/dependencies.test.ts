import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
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
