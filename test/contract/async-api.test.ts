// The AsyncAPI documents are valid and served, and use the same names and record as the channels.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import { Ajv } from 'ajv'
import { asyncApi } from '../../src/contract/documents/async-api.ts'
import { platformOperations } from '../../src/contract/documents/interface-operations.ts'
import { openApi } from '../../src/contract/documents/open-api.ts'
import { deviceMessageType, deviceMessageTypeName } from '../../src/contract/endpoints.ts'
import { defaultName } from '../../src/subjects/settings/device-channels.ts'
import { defaultIntakeName } from '../../src/subjects/settings/intake.ts'
import { type Answer, get, startOperator, startPlatform } from '../support/sides.ts'

const schema = JSON.parse(
  await readFile(new URL(import.meta.resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json')), 'utf8'),
)
const isAsyncApi = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema)

interface Reference {
  readonly $ref: string
}

/** The part of the document that a reference names. */
function resolve(document: Answer['body'], reference: string): Answer['body'] {
  const [root, ...names] = reference.split('/')
  assert.equal(root, '#', reference)
  const part = names.reduce((parent, name) => parent?.[name], document)
  assert.ok(part, `${reference} names nothing`)
  return part
}

const start = {
  operator: startOperator,
  platform: (t: Parameters<typeof startPlatform>[0]) => startPlatform(t, { lanes: [] }),
} as const

for (const side of ['operator', 'platform'] as const) {
  test(`the ${side} serves the built document, and it is valid AsyncAPI 3.0`, async (t) => {
    const { url } = await start[side](t)
    const { body, text, headers } = await get(`${url}/asyncapi.json`, '')
    assert.match(headers.get('content-type') ?? '', /^application\/json/)
    assert.deepEqual(body, JSON.parse(JSON.stringify(asyncApi(side))))
    assert.equal(isAsyncApi(body), true, JSON.stringify(isAsyncApi.errors, null, 2))
    // The schema does not follow references.
    for (const reference of text.matchAll(/"\$ref":"([^"]+)"/g)) resolve(body, reference[1] as string)
    const operations = Object.entries<Answer['body']>(body.operations)
    const [action, count] = side === 'operator' ? ['send', 2] : ['receive', 4]
    assert.deepEqual(
      operations.map(([, operation]) => operation.action),
      Array(count).fill(action),
    )
    for (const [id, operation] of operations) {
      const messages = operation.messages.map(({ $ref }: Reference) => resolve(body, resolve(body, $ref).$ref))
      assert.deepEqual(
        messages.map(({ name }: { name: string }) => name),
        id.startsWith('records') ? ['activity'] : Object.values(deviceMessageType),
      )
    }
  })
}

test('the type is a property of an AMQP message and a header of a Kafka message (§4.3)', () => {
  const { messages } = asyncApi('operator').components as Answer['body']
  for (const [name, type] of [
    ['userDeviceLink', deviceMessageType.link],
    ['userDeviceUnlink', deviceMessageType.unlink],
  ] as const) {
    assert.equal(messages[`${name}Amqp`].bindings.amqp.messageType, type)
    assert.equal(messages[`${name}Amqp`].headers, undefined)
    assert.deepEqual(messages[`${name}Kafka`].headers.required, [deviceMessageTypeName])
    assert.equal(messages[`${name}Kafka`].headers.properties.type.const, type)
    assert.equal(messages[`${name}Kafka`].bindings.kafka.key.description, 'user_id')
  }
})

test('the record is that of the HTTP endpoints, and the addresses are the default names', () => {
  const { channels, components } = asyncApi('platform') as Answer['body']
  const rest = openApi({ title: 'x', description: 'x', operations: platformOperations, groups: [] }) as Answer['body']
  assert.deepEqual(components.schemas.DeviceEventRecord, rest.components.schemas.DeviceEventRecord)
  for (const [name, channel] of Object.entries<Answer['body']>(channels)) {
    const { brand, channel: push } = channel.parameters
    const expected = name.startsWith('activities')
      ? [defaultIntakeName('{channel}' as 'push'), defaultIntakeName(undefined)]
      : [defaultName('{brand}'), defaultName(undefined)]
    assert.deepEqual([channel.address, /is ([^ ]+)\.$/.exec((brand ?? push).description)?.[1]], expected)
  }
  for (const [name, message] of Object.entries<Answer['body']>(components.messages)) {
    const schema = name.startsWith('activity') ? 'ActivityRequest' : 'DeviceEventRecord'
    assert.deepEqual(message.payload, { $ref: `#/components/schemas/${schema}` })
  }
})
