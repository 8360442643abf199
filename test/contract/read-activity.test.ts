import assert from 'node:assert/strict'
import test from 'node:test'
import { type Activity, type ReadItem, readBatch, readLines, readSingle } from '../../src/contract/read-activity.ts'
import { pick, randomFrom, randomJson, spacing } from './json-maker.ts'

const full = (id: string, brand: number) =>
  `{"activity":{"id":${id},"brand_id":${brand},"user_id":"1001","activity_id":5,"action_group_id":6,"trigger_hash":"ab12","action_id":7},"title":"Hello"}`
const user = '"brand_id":1,"user_id":"u"'
/** A record with these members of its activity, after the id 2, and these beside its activity. */
const having = (members: string, beside = '') => `{"activity":{"id":2,${members}}${beside}}`
const least = (id: string) => `{"activity":{"id":${id},"brand_id":1,"user_id":"1001"}}`
/** The same user id in two brands: two people. */
const [first, last] = [full('1', 1), full('3', 2)]

function items(body: Uint8Array | string): readonly ReadItem[] {
  const read = readBatch(body)
  if ('invalid' in read) assert.fail(read.invalid)
  return read.items
}

/** Reads the item between two valid ones of two brands, and checks that the valid ones are unaffected. */
function readBetweenValid(item: string | Buffer): ReadItem {
  const read = items(Buffer.concat([Buffer.from(`[${first},`), Buffer.from(item), Buffer.from(`,${last}]`)]))
  assert.equal(read.length, 3)
  assertActivity(read[0] as ReadItem, '1', '1', first)
  assertActivity(read[2] as ReadItem, '3', '2', last)
  return read[1] as ReadItem
}

function assertActivity(item: ReadItem, id: string, brandId: string, text: string): asserts item is Activity {
  if ('invalid' in item) assert.fail(item.invalid)
  assert.deepEqual([item.id, item.brandId, item.userId, item.text], [id, brandId, '1001', text])
}

test('a record is returned with its fields as text, its source text and its parsed element', () => {
  const item = items(`[ ${first} ]`)[0] as Activity
  assert.deepEqual(item, {
    id: '1',
    idJson: '1',
    brandId: '1',
    userId: '1001',
    activityId: '5',
    actionGroupId: '6',
    triggerHash: 'ab12',
    actionId: '7',
    text: first,
    repeated: undefined,
    element: JSON.parse(first),
  })
  assert.deepEqual(readSingle(`  ${first}\n`), item)
})

for (const id of ['0', '1', '42', '9007199254740993', '9223372036854775806', '9223372036854775807']) {
  test(`activity.id ${id} keeps every digit`, () => {
    const item = readBetweenValid(full(id, 1)) as Activity
    assert.deepEqual([item.id, item.idJson], [id, id])
  })
}

test('the other integers keep every digit', () => {
  const big = '9223372036854775807'
  const item = readBetweenValid(
    `{"activity":{"id":1,"brand_id":${big},"user_id":"u","activity_id":${big},"action_group_id":${big},"action_id":9007199254740993}}`,
  ) as Activity
  assert.deepEqual(
    [item.brandId, item.activityId, item.actionGroupId, item.actionId],
    [big, big, big, '9007199254740993'],
  )
})

test('activity.id may be a string of 1 to 128 characters, and idJson is its source text', () => {
  for (const [json, id] of [
    ['"5"', '5'],
    ['"a b/ü"', 'a b/ü'],
    ['"\\u0061\\"b"', 'a"b'],
    [`"${'x'.repeat(128)}"`, 'x'.repeat(128)],
  ] as const) {
    const item = readBetweenValid(full(json, 1)) as Activity
    assert.deepEqual([item.id, item.idJson], [id, json])
  }
})

const notDigits = /activity\.id must be an integer from 0 to 9223372036854775807, written in digits alone, not /
for (const [idJson, error] of [
  ['9223372036854775808', notDigits],
  ['99999999999999999999', notDigits],
  ['-1', notDigits],
  ['-0', notDigits],
  ['1.0', notDigits],
  ['1.5', notDigits],
  ['1e3', notDigits],
  ['1E3', notDigits],
  ['1e400', notDigits],
  ['null', notDigits],
  ['true', notDigits],
  ['{"a":1}', notDigits],
  ['[1]', notDigits],
  ['""', /1 to 128 characters/],
  [`"${'x'.repeat(129)}"`, /1 to 128 characters/],
  ['"a\\nb"', /control character/],
  ['"a\\u0000b"', /U\+0000/],
  ['"\\ud800"', /lone surrogate/],
] as const) {
  test(`activity.id ${idJson.slice(0, 30)} makes only that item invalid, and idJson is the source text`, () => {
    const item = readBetweenValid(full(idJson, 1))
    assert.ok('invalid' in item)
    assert.match(item.invalid, error)
    assert.equal(item.idJson, idJson)
  })
}

for (const [fault, item, error, idJson] of [
  ['a number', '5', /not an activity request record/, undefined],
  ['a string', '"activity"', /not an activity request record/, undefined],
  ['null', 'null', /not an activity request record/, undefined],
  ['an array', '[1]', /not an activity request record/, undefined],
  [
    'no activity',
    '{"id":2,"brand_id":1,"user_id":"u"}',
    /activity is missing.*into an object named "activity"/,
    undefined,
  ],
  ['an activity that is no object', '{"activity":[2]}', /activity is missing/, undefined],
  ['a null activity', '{"activity":null}', /activity is missing/, undefined],
  ['no id', '{"activity":{"brand_id":1,"user_id":"u"}}', /activity\.id is missing/, undefined],
  ['no brand_id', having('"user_id":"u"'), /activity\.brand_id is missing/, '2'],
  ['a null brand_id', having('"brand_id":null,"user_id":"u"'), /brand_id must be an integer.*not null/, '2'],
  ['a brand_id of text', having('"brand_id":"1","user_id":"u"'), /brand_id must be an integer.*not "1"/, '2'],
  ['a brand_id of 1.0', having('"brand_id":1.0,"user_id":"u"'), /brand_id must be an integer.*not 1\.0/, '2'],
  ['no user_id', having('"brand_id":1'), /user_id is missing/, '2'],
  ['a user_id of digits', having('"brand_id":1,"user_id":1001'), /user_id must be a string/, '2'],
  ['an empty user_id', having('"brand_id":1,"user_id":""'), /user_id must be a string and must have 1 to 255/, '2'],
  ['a long user_id', `{"activity":{"id":2,"brand_id":1,"user_id":"${'u'.repeat(256)}"}}`, /user_id must be/, '2'],
  ['a line feed in user_id', having('"brand_id":1,"user_id":"a\\nb"'), /user_id must be.*control/, '2'],
  [
    'an unescaped C1 control character in user_id, which JSON allows',
    having('"brand_id":1,"user_id":"a\u009b31m"'),
    /user_id must be.*control/,
    '2',
  ],
  ['activity_id of text', having(`${user},"activity_id":"5"`), /activity_id must be an integer/, '2'],
  ['action_group_id of -1', having(`${user},"action_group_id":-1`), /action_group_id must be/, '2'],
  ['action_id true', having(`${user},"action_id":true`), /action_id must be/, '2'],
  ['trigger_hash of digits', having(`${user},"trigger_hash":5`), /trigger_hash must be a string/, '2'],
  ['U+0000 in the content', having(user, ',"title":"a\\u0000b"'), /U\+0000/, '2'],
  ['U+0000 in a name', having(user, ',"a\\u0000b":1'), /U\+0000/, '2'],
  ['half a surrogate pair', having(user, ',"title":"\\uD83D!"'), /lone surrogate/, '2'],
  ['a pair the wrong way round', having(user, ',"title":"\\ude00\\ud83d"'), /lone surrogate/, '2'],
  ['a missing comma', '{"activity":{"id":2,"brand_id":1} "title":1}', /not JSON/, '2'],
  ['a control character', having('"brand_id":1,"user_id":"a\tb"'), /not JSON: Bad control character/, '2'],
  ['a broken id', '{"activity":{"id":2 3,"brand_id":1}}', /not JSON/, undefined],
  ['no value', '', /not JSON/, undefined],
] as const) {
  test(`only the item with ${fault} is invalid, and the error names the fault`, () => {
    const read = readBetweenValid(item)
    assert.ok('invalid' in read, 'the item was accepted')
    assert.match(read.invalid, error)
    assert.equal(read.idJson, idJson)
    const single = readSingle(item)
    assert.ok('invalid' in single)
    if (item !== '' && item !== '[1]') assert.deepEqual([single.invalid, single.idJson], [read.invalid, read.idJson])
  })
}

test('escapes that only resemble U+0000 or a lone surrogate are accepted', () => {
  for (const title of ['\\\\u0000', '\\\\ud800', '\\ud83d\\ude00', '\\\\\\\\u0000']) {
    const item = readBetweenValid(`{"activity":{"id":2,"brand_id":1,"user_id":"1001"},"title":"${title}"}`)
    assert.ok(!('invalid' in item), `${title}: ${JSON.stringify(item)}`)
  }
})

test('a lone surrogate in a body of type string is found', () => {
  const read = items(`[${first},{"activity":{"id":2,"brand_id":1,"user_id":"\ud800"}},${last}]`)
  assert.match((read[1] as { invalid: string }).invalid, /lone surrogate/)
  assert.ok(!('invalid' in (read[0] as ReadItem)) && !('invalid' in (read[2] as ReadItem)))
})

test('activity_id, action_group_id, trigger_hash and action_id may be missing or null', () => {
  for (const item of [
    least('2'),
    '{"activity":{"id":2,"brand_id":1,"user_id":"1001","activity_id":null,"action_group_id":null,"trigger_hash":null,"action_id":null}}',
  ]) {
    const { activityId, actionGroupId, triggerHash, actionId } = readBetweenValid(item) as Activity
    assert.deepEqual([activityId, actionGroupId, triggerHash, actionId], [null, null, null, null])
  }
})

test('unknown fields are kept, inside and outside activity', () => {
  const item = readBetweenValid(
    '{"x":[1.0],"activity":{"z":{"id":9},"id":2,"brand_id":1,"user_id":"1001","y":"}"},"w":1e400}',
  ) as Activity
  assert.equal(item.id, '2')
  assert.match(item.text, /"x":\[1\.0\].*"w":1e400/)
})

test('the last of equal names wins, as in JSON.parse, even if it is written with escapes', () => {
  for (const item of [
    '{"activity":{"id":1,"brand_id":1,"user_id":"u","id":9007199254740993}}',
    '{"activity":{"id":1,"brand_id":1,"user_id":"u","\\u0069d":9007199254740993}}',
    '{"activity":{"id":1,"brand_id":1,"user_id":"u"},"activity":{"id":9007199254740993,"brand_id":1,"user_id":"u"}}',
    '{"activity":{"id":9007199254740992,"brand_id":1,"user_id":"u"},"activit\\u0079":{"id":9007199254740993,"brand_id":1,"user_id":"u"}}',
  ]) {
    assert.equal((readBetweenValid(item) as Activity).id, '9007199254740993', item)
  }
  const hidden = readBetweenValid(
    '{"activity":{"id":1,"brand_id":1,"user_id":"u"},"activity":{"id":1.0,"brand_id":1,"user_id":"u"}}',
  )
  assert.ok('invalid' in hidden && hidden.idJson === '1.0')
})

test('a record that begins like the others but differs later is read completely', () => {
  const odd = '{"activity":{"id":1,"brand_id":1,"user_id":"a\\"}","id":9007199254740993}}'
  const read = items(`[${least('1')},${least('2')},${odd},${least('4')}]`) as readonly Activity[]
  assert.deepEqual(
    read.map(({ id }) => id),
    ['1', '2', '9007199254740993', '4'],
  )
})

test('items with the same id but different users or brands are kept apart', () => {
  const read = items(`[${full('7', 1)},${full('7', 2)},${full('7', 1).replace('1001', '1002')}]`) as readonly Activity[]
  assert.deepEqual(
    read.map(({ id, brandId, userId }) => [id, brandId, userId]),
    [
      ['7', '1', '1001'],
      ['7', '2', '1001'],
      ['7', '1', '1002'],
    ],
  )
})

test('10,000 levels of nesting make only that item invalid, in a batch and alone', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const item = `{"activity":{"id":2,"brand_id":1,"user_id":"1001"},"x":${open.repeat(10_000)}1${close.repeat(10_000)}}`
    for (const read of [readBetweenValid(item), readSingle(item)]) {
      assert.ok('invalid' in read)
      assert.equal(read.invalid, 'nested deeper than 100 levels')
      assert.equal(read.idJson, '2')
    }
  }
})

test('100 levels are valid, alone and as a line, and so are brackets within a text', () => {
  const withData = (data: string): string => `{"activity":{"id":2,"brand_id":1,"user_id":"1001"},"x":${data}}`
  const nested = (levels: number): string => withData('['.repeat(levels - 1) + ']'.repeat(levels - 1))
  for (const [text, isValid] of [
    [nested(100), true],
    [nested(101), false],
    [withData(`"${'[{'.repeat(200)}"`), true],
    [withData(`[${Array(200).fill('{}').join()}]`), true],
  ] as const) {
    const [line] = readLines(`${text}\n${nested(101)}`)
    for (const read of [readBetweenValid(text), readSingle(text), line as ReadItem])
      assert.equal(!('invalid' in read), isValid, text)
  }
})

test('bytes that are not UTF-8 make only their item invalid', () => {
  const broken = Buffer.concat([
    Buffer.from('{"activity":{"id":2,"brand_id":1,"user_id":"1001"},"title":"a'),
    Buffer.from([0xc3, 0x28]),
    Buffer.from('"}'),
  ])
  for (const read of [readBetweenValid(broken), readSingle(broken)]) {
    assert.ok('invalid' in read)
    assert.match(read.invalid, /not UTF-8/)
    assert.equal(read.idJson, '2')
  }
  const neighbour = items(
    Buffer.concat([Buffer.from('['), broken, Buffer.from(`,${full('3', 2).replace('Hello', 'Grüße')}]`)]),
  )[1] as Activity
  assert.deepEqual([neighbour.id, neighbour.brandId, neighbour.element.title], ['3', '2', 'Grüße'])
})

test('the id of a body that is not UTF-8 is found after white space', () => {
  const broken = Buffer.from(` ${full('2', 1).replace('Hello', '\u00c3')}`, 'latin1')
  assert.equal(readSingle(broken).idJson, '2')
})

test('text beyond ASCII is read unchanged', () => {
  const text = full('2', 1).replace('1001', 'ünï-✓-😀').replace('Hello', '你好 😀')
  const item = readBetweenValid(text) as Activity
  assert.deepEqual([item.userId, item.text, item.element.title], ['ünï-✓-😀', text, '你好 😀'])
})

for (const [fault, body, error, status] of [
  ['nothing', '', /the body is empty/, 400],
  ['white space', ' \r\n', /the body is empty/, 400],
  ['no JSON', 'hello', /must be a JSON array/, 400],
  ['a single record', first, /must be a JSON array.*\/single/, 400],
  ['null', 'null', /must be a JSON array/, 400],
  ['a truncated array', `[${first},{"activity":{"id"`, /truncated: element 1/, 400],
  ['text after the array', `[${first}]]`, /unexpected text/, 400],
  [
    'items none of which can be reported',
    '[1,{"activity":{}}]',
    /no item of the batch has an activity\.id.*not an activity request record/,
    400,
  ],
  ['100,001 items', `[${'0,'.repeat(100_000)}0]`, /more than 100000 items in one batch: send fewer/, 413],
] as const) {
  test(`a batch body with ${fault} is refused as a whole, with a matching error`, () => {
    for (const read of [readBatch(body), readBatch(Buffer.from(body))]) {
      assert.ok('invalid' in read)
      assert.match(read.invalid, error)
      assert.equal(read.status, status)
    }
  })
}

for (const [fault, body, error] of [
  ['nothing', '', /the body is empty/],
  ['no JSON', 'hello', /not JSON/],
  ['a truncated record', '{"activity":{"id":1', /not JSON/],
  ['an array', `[${first}]`, /the body is an array.*\/batch/],
  ['two records', first + last, /not JSON/],
] as const) {
  test(`a single body with ${fault} is invalid, with a matching error`, () => {
    const read = readSingle(body)
    assert.ok('invalid' in read)
    assert.match(read.invalid, error)
  })
}

test('an empty array is a batch without messages', () => {
  assert.deepEqual(items('[]'), [])
  assert.deepEqual(items(' [\n] '), [])
})

test('a byte order mark is ignored', () => {
  assertActivity(items(`\ufeff[${first}]`)[0] as ReadItem, '1', '1', first)
  assertActivity(readSingle(Buffer.from(`\ufeff${first}`)), '1', '1', first)
})

test('10,000 items, and one item of 20 MB, are read', () => {
  const many = items(
    `[${Array.from({ length: 10_000 }, (_, n) => full(String(n), 1 + (n % 2))).join(',')}]`,
  ) as readonly Activity[]
  assert.deepEqual(
    many.map(({ id }) => Number(id)),
    [...many.keys()],
  )
  const large = full('2', 1).replace('Hello', 'x'.repeat(20_000_000))
  assert.equal((readBetweenValid(large) as Activity).text, large)
})

test('readLines() returns one item per line, and an invalid line does not affect others', () => {
  const lines = readLines(`${first}\r\n\n  \n{"activity":{\n${'['.repeat(500)}\n${last}\n{"activity":{"id":4}}`)
  assertActivity(lines[0] as ReadItem, '1', '1', first)
  assert.deepEqual([lines[1], lines[2]], [undefined, undefined])
  assert.deepEqual(lines[3], {
    invalid: (lines[3] as { invalid: string }).invalid,
    idJson: undefined,
    text: '{"activity":{',
  })
  assert.match((lines[4] as { invalid: string }).invalid, /nested deeper/)
  assertActivity(lines[5] as ReadItem, '3', '2', last)
  assert.deepEqual([lines.length, (lines[6] as { idJson?: string }).idJson], [7, '4'])
})

/** A random record: the order, spacing and escapes of fields vary, and fields may be missing, duplicate or unknown. */
function randomRecord(random: () => number, space: () => string, order: readonly string[]): string {
  const value = () =>
    pick(random, ['1', '42', '9007199254740993', '"1001"', '"ab\\u0063"', 'null', '1.0', '-1', '{"id":1}', '"vity\\""'])
  const fields = order.map(
    (name) => `"${name}"${space()}:${space()}${random() < 0.8 ? (/user|hash/.test(name) ? '"1001"' : '7') : value()}`,
  )
  if (random() < 0.2) fields.push(`"${pick(random, ['id', '\\u0069d', 'x', 'user_id'])}":${value()}`)
  const activity = `"activity"${space()}:${space()}{${space()}${fields.join(`${space()},${space()}`)}${space()}}`
  const others = random() < 0.3 ? [`"title":${randomJson(random, space, 3)}`] : []
  if (random() < 0.1) others.push('"activity":{"id":8,"brand_id":1,"user_id":"x"}')
  const all = random() < 0.8 ? [activity, ...others] : [...others, activity]
  return `{${space()}${all.join(`${space()},${space()}`)}${space()}}`
}

test('an item is read in a batch exactly as it is read alone (seeded)', () => {
  const names = ['id', 'brand_id', 'user_id', 'activity_id', 'action_group_id', 'trigger_hash', 'action_id', 'other']
  for (let seed = 1; seed <= 1_500; seed++) {
    const random = randomFrom(seed)
    const space = spacing(random)
    const order = names.filter(() => random() < 0.9).sort(() => random() - 0.5)
    const records = Array.from({ length: 1 + Math.floor(random() * 8) }, () => randomRecord(random, space, order))
    const read = readBatch(`[${records.join(`${space()},${space()}`)}]`)
    const alone = records.map((record) => readSingle(record))
    if ('invalid' in read)
      assert.ok(
        alone.every((item) => 'invalid' in item && item.idJson === undefined),
        `seed ${seed}`,
      )
    else assert.deepEqual(read.items, alone, `seed ${seed}`)
    for (const [n, item] of alone.entries()) {
      const parsed = (JSON.parse(records[n] as string) as { activity: Record<string, unknown> }).activity
      const idJson = item.idJson
      assert.deepEqual(idJson === undefined ? undefined : JSON.parse(idJson), parsed.id, `seed ${seed}`)
      if (!('invalid' in item))
        assert.deepEqual([item.userId, Number(item.brandId)], [parsed.user_id, parsed.brand_id], `seed ${seed}`)
    }
  }
})
