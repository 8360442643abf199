import assert from 'node:assert/strict'
import test from 'node:test'
import { csvLine } from '../../src/base/http/csv.ts'

test('no cell becomes a formula: after spaces, quotes, a byte order mark, a semicolon, a tab or a line break, or in full width', () => {
  for (const [cell, line] of [
    [' =1', "' =1"],
    ['\uFEFF=1', "'\uFEFF=1"],
    ['\uFF1D1', "'\uFF1D1"],
    ['a;=1+1', '"a;\'=1+1"'],
    ['a; @x', '"a;\' @x"'],
    ['a;"=1', '"a;\'""=1"'],
    ['a\n=1', '"a\n\'=1"'],
    ['a\r\n+1', '"a\r\n\'+1"'],
    ['a\t=1', "a\t'=1"],
    ['a=1', 'a=1'],
    ['a; b', '"a; b"'],
  ])
    assert.equal(csvLine([cell as string]), `${line}\n`)
})
