// docs/checks.md and the schema of the report are printed from the code; docs/test-operator.md and docs/test-platform.md show every setting of a preparation.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { byOption } from '../../src/base/runtime/check-options.ts'
import type { AnyCheck } from '../../src/tools/checker/check.ts'
import { operatorChecks } from '../../src/tools/checker/operator/checks.ts'
import { platformChecks } from '../../src/tools/checker/platform/checks.ts'
import { reportSchemaText, withChecks } from '../../src/tools/checker/print-checks.ts'
import { platformPreparationTable, readPlatformPreparation } from '../../src/tools/cli/check/platform-preparation.ts'
import { type Preparation, preparationTable, readPreparation } from '../../src/tools/cli/check/preparation.ts'
import { temporary } from '../support/sides.ts'

const docs = join(import.meta.dirname, '../../docs')
const read = (page: string): Promise<string> => readFile(join(docs, page), 'utf8')
const rewrite = 'run: node --conditions=bellwire-source src/tools/checker/print-checks.ts --write'

test('docs/checks.md has the tables of the checks', async () => {
  const page = await read('checks.md')
  assert.equal(page, withChecks(page), rewrite)
})

test('docs/check-report.schema.json is the schema of the report', async () => {
  assert.deepEqual(JSON.parse(await read('check-report.schema.json')), JSON.parse(reportSchemaText()), rewrite)
})

test('every check names sections of the interface, and rows of docs/open-points.md', async () => {
  const checks: readonly AnyCheck[] = [...operatorChecks, ...platformChecks].flatMap((group) => [...group.checks])
  const [sections, rows] = [await read('interface.md'), await read('open-points.md')]
  for (const { id, section, row } of checks) {
    for (const each of section.split(', ')) {
      const [, chapter = '', part] = /^§(\d+)(?:\.(\d+))?$/.exec(each) ?? []
      // A part is a heading, or a numbered rule of the chapter.
      const heading = new RegExp(`^##+ ${chapter}\\.${part ?? ' '}`, 'm')
      const rule = new RegExp(`^## ${chapter}\\. (?:(?!^## )[\\s\\S])*?^${part}\\. `, 'm')
      assert.ok(heading.test(sections) || rule.test(sections), `${id}: ${each}`)
    }
    if (row !== undefined) assert.match(rows, new RegExp(`^\\| ${row} \\|`, 'm'), id)
  }
})

/** Writes the files that the pages of tests show. @returns their paths: of an operator, of a platform */
async function shownFiles(t: TestContext): Promise<readonly string[]> {
  const folder = await temporary(t)
  const shown = [
    ...`${await read('test-operator.md')}${await read('test-platform.md')}`.matchAll(/```yaml\n([\s\S]*?)```/g),
  ]
  return Promise.all(
    shown.map(async ([, yaml = ''], place) => {
      const file = join(folder, `check-${place}.yaml`)
      await writeFile(file, yaml)
      return file
    }),
  )
}

test('the files of docs/test-operator.md and docs/test-platform.md are accepted, and have every setting', async (t) => {
  const [operator = '', platform = '', ...others] = await shownFiles(t)
  const preparation: Preparation = await readPreparation(operator)
  assert.deepEqual(Object.keys(preparation).toSorted(), Object.keys(byOption(preparationTable.settings)).toSorted())
  assert.deepEqual(Object.keys(preparation.users ?? {}), ['normal', 'blocked', 'withoutDevice'])
  const names = Object.keys(await readPlatformPreparation(platform))
  assert.deepEqual(names.toSorted(), Object.keys(byOption(platformPreparationTable.settings)).toSorted())
  assert.deepEqual(others, [])
})
