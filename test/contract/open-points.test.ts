import assert from 'node:assert/strict'
import { access, readdir, readFile } from 'node:fs/promises'
import test from 'node:test'

const root = new URL('../../', import.meta.url)
const document = await readFile(new URL('docs/open-points.md', root), 'utf8')
const rows = document.split('\n').flatMap((line) => {
  const cells = line.split(' | ')
  const number = /^\| ([0-9]+)$/.exec(cells[0] ?? '')?.[1]
  return number === undefined ? [] : [{ number: Number(number), cells }]
})

test('the rows are numbered without gaps, and each has six cells', () => {
  assert.deepEqual(
    rows.map(({ number }) => number).sort((a, b) => a - b),
    Array.from({ length: rows.length }, (_, n) => n + 1),
  )
  for (const { number, cells } of rows) assert.equal(cells.length, 6, `row ${number}`)
})

test('every row names an existing file, or is marked as not built yet', async () => {
  for (const { number, cells } of rows) {
    const where = cells[5] as string
    const files = [...where.matchAll(/`(src\/[^`]+)`/g)].map((match) => match[1] as string)
    assert.ok(files.length > 0 || where.includes('not built yet'), `row ${number}`)
    for (const file of files) await access(new URL(file, root))
  }
})

test('every row that the code cites exists', async () => {
  const known = new Set(rows.map(({ number }) => number))
  for (const file of await readdir(new URL('src/', root), { recursive: true })) {
    if (!file.endsWith('.ts')) continue
    const text = await readFile(new URL(`src/${file}`, root), 'utf8')
    for (const [, number] of text.matchAll(/\brows? ([0-9]+)\b/g)) {
      assert.ok(known.has(Number(number)), `${file} cites row ${number}`)
    }
  }
})
