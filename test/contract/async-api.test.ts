// The AsyncAPI documents are valid and served, and use the same names and record as the channels.

import assert from 'node:assert/strict'
import test from 'node:test'
import { Parser } from '@asyncapi/parser'
import { asyncApi } from '../../src/contract/documents/async-api.ts'
import { platformOperations } from '../../src/contract/documents/interface-operations.ts'
import { openApi } from '../../src/contract/documents/open-api.ts'
import { deviceMessageType, deviceMessageTypeName } from '../../src/contract/endpoints.ts'
import { defaultName } from '../../src/subjects/settings/device-channels.ts'
import { defaultIntakeName } from '../../src/subjects/settings/intake.ts'
import { type Answer, get, startOperator, startPlatform } from '../support/sides.ts'

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
    const { document, diagnostics } = await new Parser().parse(text)
    assert.deepEqual(
      diagnostics.filter(({ severity }) => severity === 0),
      [],
    )
    assert.equal(document?.version(), '3.0.0')
    const actions = document.operations().all()
    assert.deepEqual(
      actions.map((operation) => operation.action()),
      side === 'operator' ? ['send', 'send'] : ['receive', 'receive', 'receive', 'receive'],
    )
    for (const operation of actions)
      assert.deepEqual(
        operation
          .messages()
          .all()
          .map((message) => message.name()),
        operation.id()?.startsWith('records') ? ['activity'] : Object.values(deviceMessageType),
      )
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
