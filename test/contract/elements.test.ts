import assert from 'node:assert/strict'
import test from 'node:test'
import { cutElements } from '../../src/contract/elements.ts'
import { sourceOf } from '../../src/contract/source.ts'
import { pick, randomFrom, randomJson, spacing } from './json-maker.ts'

function texts(body: string): readonly string[] {
  const { starts, ends, error } = cutElements(sourceOf(body))
  assert.equal(error, undefined)
  return starts.map((start, n) => body.slice(start, ends[n]))
}

test('elements are returned unchanged, without surrounding white space', () => {
  assert.deepEqual(texts('[]'), [])
  assert.deepEqual(texts(' [ ] '), [])
  assert.deepEqual(texts('[1]'), ['1'])
  assert.deepEqual(texts('[1, {"a" : "]," } ,\n[2,3]\t,"},{" ]'), ['1', '{"a" : "]," }', '[2,3]', '"},{"'])
  assert.deepEqual(texts('["\\"", "\\\\", "a\\\\\\","]'), ['"\\""', '"\\\\"', '"a\\\\\\","'])
})

test('strings of every length end at the first quote that is not escaped', () => {
  for (let length = 0; length < 200; length++) {
    const start = 'a'.repeat(length)
    for (const letter of ['', 'é', '😀'])
      for (const end of ['', '\\\\', '\\"', '\\\\\\"', '\\"]', `\\"${start}`, `\\"${start}\\\\`]) {
        const text = `"${letter}${start}${end}"`
        assert.deepEqual(texts(`[${text},{"b":${text}}]`), [text, `{"b":${text}}`])
        assert.match(cutElements(sourceOf(`[${text.slice(0, -1)}`)).error ?? 'no error', /is truncated/)
      }
  }
})

test('an element that is not valid JSON is returned like any other', () => {
  assert.deepEqual(texts('[1 2,{"a":},"x" y,,"\n"]'), ['1 2', '{"a":}', '"x" y', '', '"\n"'])
})

test('nothing between two commas is an empty element, which does not affect the others', () => {
  for (const body of ['[{"a":1},]', '[,{"a":1}]', '[{"a":1},,{"b":2}]']) {
    const cut = cutElements(sourceOf(body))
    assert.equal(cut.error, undefined, body)
    assert.ok(texts(body).includes('{"a":1}') && texts(body).includes(''), body)
  }
})

for (const [body, error] of [
  ['', /is empty/],
  [' \n', /is empty/],
  ['hello', /must be a JSON array/],
  ['{"activity":{}}', /must be a JSON array/],
  ['[', /is truncated/],
  ['[1,2', /is truncated: element 1/],
  ['[{"a":"]', /is truncated/],
  ['[{"a":1]', /is truncated/],
  ['["\\', /is truncated/],
  ['[1}', /unmatched } at character 2/],
  ['[1] [2]', /unexpected text at character 4/],
] as const) {
  test(`${JSON.stringify(body)} is refused with an error`, () => {
    assert.match(cutElements(sourceOf(body)).error ?? 'no error', error)
  })
}

test('elements nested deeper than 100 levels are reported, in text of any size', () => {
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const arrays = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`
  const body = `[${[nested(1), nested(100), nested(101), arrays(99), arrays(100), nested(10_000), arrays(10_000), nested(1)].join(',')}]`
  const source = sourceOf(body)
  assert.deepEqual([...cutElements(source).deep], [2, 4, 5, 6])
})

test('many braces on one level are not deep nesting', () => {
  const wide = `{"a":[${'{},'.repeat(500)}{}],"b":"${'{'.repeat(500)}"}`
  const flat = `{"b":"${'{'.repeat(500)}"}`
  const source = sourceOf(`[${flat},${wide},${flat},${flat}]`)
  assert.equal(cutElements(source).deep.size, 0)
})

for (const [pattern, body] of [
  ['the separator of elements, inside a string', '[{"a":1},{"b":"},{\\"c"},{"d":2},{"e":"},{"},{"f":3}]'],
  ['arrays of objects', '[{"a":1},{"b":[{"c":1},{"d":2}],"e":[{"f":1},{"g":2}]},{"h":[]},{"i":3}]'],
  ['brackets in strings', '[{"a":"["},{"b":"x\\":[","c":":[{"},{"d":[1]},{"e":2}]'],
  ['elements of other kinds', '[{"a":1},{"b":2},3,[{"c":1},{"d":2}],"},{",{},{},{"e":1},null]'],
] as const)
  test(`a batch is cut correctly with ${pattern}`, () => {
    assert.deepEqual(
      texts(body).map((text) => JSON.parse(text)),
      JSON.parse(body),
    )
  })

test('for random JSON, parsing each element equals parsing the whole (seeded)', () => {
  for (let seed = 1; seed <= 3_000; seed++) {
    const random = randomFrom(seed)
    const space = spacing(random)
    const elements: string[] = []
    for (let n = Math.floor(random() * 7); n > 0; n--) elements.push(randomJson(random, space, pick(random, [0, 2, 4])))
    const body = `${space()}[${space()}${elements.join(`${space()},${space()}`)}${space()}]${space()}`
    const whole = JSON.parse(body) as unknown[]
    const source = sourceOf(body)
    const { text } = source
    const { starts, ends, error } = cutElements(source)
    assert.equal(error, undefined, `seed ${seed}`)
    const cut = starts.map((start, n) => text.slice(start, ends[n]))
    assert.deepEqual(cut, elements, `seed ${seed}: ${body}`)
    assert.deepEqual(
      cut.map((element) => JSON.parse(element)),
      whole,
      `seed ${seed}`,
    )
  }
})

test('a long body with varying separators is cut in linear time', () => {
  const element = '{"a":1},{"b":2} ,{"c":3}, {"d":4}'
  const body = `[${Array.from({ length: 20_000 }, () => element).join(' , ')}]`
  assert.equal(cutElements(sourceOf(body)).starts.length, 80_000)
})

test('of a body of commas, only one element more than the limit is cut', () => {
  const source = sourceOf(`[${','.repeat(1_000_000)}`)
  const { starts, ends, error } = cutElements(source, 10)
  assert.deepEqual([starts.length, ends.length, error], [11, 11, undefined])
  assert.equal(cutElements(sourceOf('[1,2,3]'), 3).starts.length, 3)
})
