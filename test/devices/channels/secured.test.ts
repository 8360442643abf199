// Brokers as they run in production: with TLS and a password.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createServer, getCACertificates, setDefaultCACertificates, type TlsOptions } from 'node:tls'
import { amqpConsumer } from '../../../src/base/brokers/amqp-consumer.ts'
import type { BrokerConsumer } from '../../../src/base/brokers/consumer.ts'
import type { SaslMechanism } from '../../../src/base/brokers/kafka-address.ts'
import { kafkaConsumer } from '../../../src/base/brokers/kafka-consumer.ts'
import { kafkaAddress } from '../../../src/sides/config/compose/consumer.ts'
import type { DevicePublisher } from '../../../src/subjects/devices/device-publisher.ts'
import { amqpPublisher } from '../../../src/subjects/devices/publishers/amqp-publisher.ts'
import { kafkaPublisher } from '../../../src/subjects/devices/publishers/kafka-publisher.ts'
import { makeCertificate } from '../../../src/tools/stand-ins/certificate.ts'
import { message, uniqueName } from '../../suites/device-channel.ts'
import { contextOf } from '../../support/context.ts'
import { listenLocally } from '../../support/listen-locally.ts'
import { startKafka, withoutKafka } from '../../support/services/kafka.ts'
import { rabbitmq, withoutRabbitmq } from '../../support/services/rabbitmq.ts'
import { temporary } from '../../support/sides.ts'
import { until } from '../../support/wait.ts'

const certificate = makeCertificate()
/** Makes this process trust the test certificate, as NODE_EXTRA_CA_CERTS does. */
function trustCertificate(t: TestContext): void {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, certificate.cert])
  t.after(() => setDefaultCACertificates(before))
}

async function assertDelivers(publisher: DevicePublisher, consumer: BrokerConsumer): Promise<void> {
  const stop = new AbortController()
  const got: string[] = []
  const consuming = consumer.consume(async (received) => {
    got.push(...received.map(({ body }) => Buffer.from(body).toString()))
    return received.map(() => 'taken' as const)
  }, stop.signal)
  try {
    const sent = message('link')
    await until(async () => (await publisher.publish([sent], contextOf()))[0]?.category === 'successful', {
      awaited: 'the message is accepted',
      withinMs: 30_000,
    })
    await until(() => got.includes(sent.body), { awaited: 'the message arrives', withinMs: 30_000 })
  } finally {
    stop.abort()
    await consuming
    await publisher.close()
  }
}

async function assertFails(
  publisher: DevicePublisher,
  why: RegExp,
  reason: 'unavailable' | 'misconfigured' = 'unavailable',
): Promise<void> {
  try {
    const [outcome] = await publisher.publish([message('link')], contextOf(8_000))
    assert.partialDeepStrictEqual(outcome, { category: 'fatal', reason })
    assert.match((outcome as { error: string }).error, why)
  } finally {
    await publisher.close()
  }
}

/** A TLS server in front of the shared broker. @returns makes its address with this host */
async function startTls(
  t: TestContext,
  options: TlsOptions,
  onName: (name: string | false | null | undefined) => void,
): Promise<(host: string) => string> {
  const plain = new URL(await rabbitmq())
  const server = createServer(options, (near) => {
    onName(near.servername)
    const far = connect(Number(plain.port || 5672), plain.hostname)
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
    near.pipe(far).pipe(near)
  })
  const { port } = await listenLocally(t, server)
  return (host) =>
    Object.assign(new URL(plain), { hostname: host, port: String(port) }).href.replace(/^amqp:/, 'amqps:')
}

test('amqps: the client sends the host name (SNI) and verifies the certificate', {
  skip: await withoutRabbitmq(),
  timeout: 90_000,
}, async (t) => {
  const names = new Set<unknown>()
  const at = await startTls(t, certificate, (name) => void names.add(name))
  const queue = uniqueName('1')

  await assertFails(amqpPublisher({ url: at('localhost'), routingKey: queue }), /self-signed certificate/)
  trustCertificate(t)
  for (const host of ['localhost', '127.0.0.1']) {
    const url = at(host)
    await assertDelivers(amqpPublisher({ url, routingKey: queue }), amqpConsumer({ url, queue }))
  }
  assert.deepEqual(names, new Set(['localhost', false]), 'an IP address is not sent as a server name')
  const stranger = Object.assign(new URL(at('localhost')), { username: 'stranger' }).href
  await assertFails(amqpPublisher({ url: stranger, routingKey: queue }), /ACCESS_REFUSED/, 'misconfigured')
})

test('amqps: a private CA and a client certificate', {
  skip: await withoutRabbitmq(),
  timeout: 90_000,
}, async (t) => {
  const client = makeCertificate()
  const url = await startTls(t, { ...certificate, requestCert: true, ca: client.cert }, () => {})
  const queue = uniqueName('1')
  const trusting = { url: url('localhost'), ca: certificate.cert }
  await assertFails(amqpPublisher({ ...trusting, routingKey: queue }), /certificate|closed|reset/i)
  const known = { ...trusting, clientCertificate: client.cert, clientKey: client.key }
  await assertDelivers(amqpPublisher({ ...known, routingKey: queue }), amqpConsumer({ ...known, queue }))
})

test('kafka: a private CA, a client certificate and a password work with each SASL mechanism; a wrong password is reported', {
  skip: await withoutKafka(),
  timeout: 120_000,
}, async (t) => {
  const sasl = (mechanism: SaslMechanism, password = 'a password') => ({ mechanism, username: 'bellwire', password })
  const broker = await startKafka({ secured: { ...certificate, username: 'bellwire', password: 'a password' } })
  t.after(() => broker.stop())
  const of = { brokers: [broker.address], tls: true, topic: uniqueName('1') }

  await assertFails(kafkaPublisher({ ...of, sasl: sasl('PLAIN') }), /self-signed certificate/)
  const trusting = { ...of, ca: certificate.cert }
  await assertFails(kafkaPublisher({ ...trusting, sasl: sasl('PLAIN') }), /certificate|closed|reset/i)
  const known = { ...trusting, clientCertificate: certificate.cert, clientKey: certificate.key }
  for (const mechanism of ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const) {
    const at = { ...known, sasl: sasl(mechanism) }
    await assertDelivers(kafkaPublisher(at), kafkaConsumer({ ...at, group: uniqueName('1') }))
    await assertFails(kafkaPublisher({ ...at, sasl: sasl(mechanism, 'another') }), /[Aa]uthentication/, 'misconfigured')
  }
  await assertFails(kafkaPublisher(known), /./)

  // A token in a file, which another program renews, and one of a token endpoint.
  const file = join(await temporary(t), 'token')
  const endpoint = await tokenEndpoint(t)
  const ways = {
    token_file: { tokenFile: file },
    oauth2: { tokenUrl: endpoint, clientId: 'bellwire', clientSecret: 's' },
  }
  for (const [name, way] of Object.entries(ways)) {
    const config = { brokers: of.brokers, tls: true, mechanism: 'OAUTHBEARER', ...way } as const
    const at = { ...known, ...kafkaAddress(config, 'platform.intake[0].from') }
    if (name === 'token_file') {
      await assertFails(kafkaPublisher(at), /no such file/)
      await writeFile(file, tokenUntil(Date.now() - 3_600_000))
      await assertFails(kafkaPublisher(at), /[Aa]uthentication/, 'misconfigured')
      await writeFile(file, `${tokenUntil(Date.now() + 3_600_000)}\n`)
    }
    await assertDelivers(kafkaPublisher(at), kafkaConsumer({ ...at, topic: of.topic, group: uniqueName('1') }))
  }
})

/** An unsigned token, which a broker accepts that has no key to verify tokens. */
function tokenUntil(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  const parts = [{ alg: 'none' }, { sub: 'bellwire', iat: seconds - 7_200, exp: seconds }]
  return `${parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`
}

async function tokenEndpoint(t: TestContext): Promise<string> {
  const server = createHttpServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const token = tokenUntil(Date.now() + 3_600_000)
    response.end(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 3_600 }))
  })
  return `${(await listenLocally(t, server)).url}/token`
}
