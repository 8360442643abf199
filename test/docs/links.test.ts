// Every link of a page to another file of the repository leads somewhere, with its heading.

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import test from 'node:test'

const root = join(import.meta.dirname, '../..')
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...globSync('docs/*.md', { cwd: root })]
const read = (page: string): string => readFileSync(join(root, page), 'utf8')

for (const page of pages)
  test(`${page}: every link leads to a file and a heading`, () => {
    for (const [, target = ''] of withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue
      const [path = '', heading] = target.split('#')
      const file = path === '' ? page : normalize(join(dirname(page), path))
      assert.ok(existsSync(join(root, file)), target)
      if (heading !== undefined) assert.ok(headings(file).includes(heading), target)
    }
  })

test('every page is linked from the README', () => {
  for (const page of pages.filter((each) => each.startsWith('docs/')))
    assert.ok(read('README.md').includes(`(${page}`) || linkedFromDocs(page), page)
})

function linkedFromDocs(page: string): boolean {
  const name = page.slice('docs/'.length)
  return pages.some((each) => each !== page && each.startsWith('docs/') && read(each).includes(`](${name}`))
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
