import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { loadProvider, loadSource } from '../../src/sides/config/module.ts'

const folder = await mkdtemp(join(tmpdir(), 'bellwire-module-'))
const file = join(folder, 'mine.ts')
await writeFile(
  file,
  `
export const provider = { name: 'mine', max: 1, send: async () => [] }
export const provder = { name: 'misspelt', max: 1, send: async () => [] }
export const incomplete = { name: 'half', max: 0 }
export const source = { name: 'mine', fields: ['blocked'], among: async (): Promise<Map<string, Set<string>>> => new Map() }
`,
)
test.after(() => rm(folder, { recursive: true }))

test("a user's provider and source are imported, from TypeScript without a build", async () => {
  assert.equal((await loadProvider(file, 'provider', 'operator.push')).name, 'mine')
  assert.deepEqual((await loadSource(file, 'source', 'operator.suppression')).fields, ['blocked'])
})

test('an export with missing members is refused, naming each of them', async () => {
  await assert.rejects(loadProvider(file, 'incomplete', 'operator.push'), (error: Error) => {
    assert.match(error.message, /mine\.ts {2}operator\.push: incomplete has missing or invalid members/)
    assert.match(error.message, /max: expected a whole number/)
    assert.match(error.message, /send: expected a function/)
    return true
  })
  await assert.rejects(loadSource(file, 'provider', 'operator.suppression'), /among: expected a function/)
})

test('a missing export is refused with a suggestion, or with the list of exports', async () => {
  await assert.rejects(loadProvider(file, 'providr', 'operator.push'), /did you mean provider\?/)
  await assert.rejects(loadProvider(file, 'nothingLikeIt', 'operator.push'), /exports: .*incomplete/)
})

test('an ES module in a project of CommonJS, as npm init makes it, is refused with the command that changes the project', async () => {
  const project = join(folder, 'commonjs')
  await mkdir(project)
  await writeFile(join(project, 'package.json'), '{"type": "commonjs"}')
  for (const text of ['export const provider = {}', "import { x } from './x.ts'"]) {
    const file = join(project, `${text.slice(0, 6)}.ts`)
    await writeFile(file, text)
    await assert.rejects(loadProvider(file, 'provider', 'operator.push'), /npm pkg set type=module/)
  }
})

test('a file that cannot be imported is refused with the reason', async () => {
  await assert.rejects(loadProvider(join(folder, 'none.ts'), 'provider', 'operator.push'), /cannot be imported/)
})
