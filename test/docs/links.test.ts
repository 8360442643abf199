// Every link of a page to another file of the repository leads somewhere, with its heading, and also in the package.

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import test from 'node:test'

const root = join(import.meta.dirname, '../..')
const contributing = ['CONTRIBUTING.md', ...globSync('docs/contributing/*.md', { cwd: root })]
const published = ['README.md', 'CHANGELOG.md', ...globSync('docs/*.md', { cwd: root })]
const read = (page: string): string => readFileSync(join(root, page), 'utf8')

/** A link to a file of the repository. */
interface Link {
  readonly file: string
  readonly heading: string | undefined
}

for (const page of [...published, ...contributing])
  test(`${page}: every link leads to a file and a heading`, () => {
    for (const { file, heading } of linksOf(page)) {
      assert.ok(existsSync(join(root, file)), file)
      if (heading !== undefined) assert.ok(headings(file).includes(heading), `${file}#${heading}`)
    }
  })

test('every page of a reader is linked from docs/README.md, and every page of a contributor from CONTRIBUTING.md', () => {
  const linked = (from: string): string[] => linksOf(from).map(({ file }) => file)
  const readers = published.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md')
  const missing = (pages: string[], from: string): string[] => pages.filter((page) => !linked(from).includes(page))
  assert.deepEqual(missing(readers, 'docs/README.md'), [])
  assert.deepEqual(missing(contributing.slice(1), 'CONTRIBUTING.md'), [])
})

// The package has no page of contributors.
test('a page of the package links only to files of the package', () => {
  const leaving = published.flatMap((page) =>
    linksOf(page).flatMap(({ file }) =>
      /^(README|CHANGELOG|LICENSE|docs\/(?!contributing)|examples\/)/.test(file) ? [] : [`${page}: ${file}`],
    ),
  )
  assert.deepEqual(leaving, [])
})

test('every page that a source file names exists', () => {
  const files = globSync(['{src,test,prove,bench,examples}/**/*.{ts,js,yaml}', 'CONTRIBUTING.md'], { cwd: root })
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/\bdocs\/[\w./-]+\.(?:md|json|png)\b/g)].map(([path]) => ({ file, path })),
  )
  assert.ok(named.length > 50, String(named.length))
  assert.deepEqual(
    named.filter(({ path }) => !existsSync(join(root, path))),
    [],
  )
})

/** The links of a page to files. */
function linksOf(page: string): Link[] {
  return [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^https?:/.test(target)) return []
    const [path = '', heading] = target.split('#')
    return [{ file: path === '' ? page : normalize(join(dirname(page), path)), heading }]
  })
}

/** The anchors that GitHub makes of the headings. */
function headings(page: string): string[] {
  return [...withoutCode(read(page)).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function withoutCode(text: string): string {
  return text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
}
