// Apache Kafka: the broker named in the environment, or else a single node (KRaft) from its Maven artifacts.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { install, installing } from './apt.ts'
import { cached } from './cache.ts'
import { findProgram, isDebian, isRoot, run, type Server, startServer, tryThreeTimes } from './program.ts'
import type { Broker } from './rabbitmq.ts'
import { addressOf, type Service, without } from './service.ts'

const version = '4.2.1'
const packages = ['default-jre-headless', 'maven']

export const kafkaService: Service<object> = {
  name: 'Kafka',
  variable: 'BELLWIRE_TEST_KAFKA',
  proves: 'device links over Kafka',
  command: `sudo sh -c '${installing(...packages)}', or BELLWIRE_TEST_KAFKA=host:port npm test`,
  start: startKafka,
}

/** Returns host:port of the shared broker. A test must use its own topics and groups there, and must not stop the broker. */
export const kafka = (): Promise<string> => addressOf(kafkaService)

/** The reason to skip a test, or false. */
export const withoutKafka = (): Promise<string | false> => without(kafkaService)

export interface KafkaOptions {
  /** The advertised port, such as that of a proxy. Default: the broker's own port. */
  readonly advertised?: number
  /** Clients must use TLS and authenticate with this password (PLAIN or SCRAM), at localhost. */
  readonly secured?: {
    readonly key: string
    readonly cert: string
    readonly username: string
    readonly password: string
  }
}

/** Starts a broker for one test, which may kill it. */
export async function startKafka(options: KafkaOptions = {}): Promise<Broker> {
  const { java, jars } = await findPrograms()
  return tryThreeTimes(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bellwire-kafka-'))
    try {
      return await start(java, jars, folder, options)
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  })
}

/** Options of Java for a program that does little work: it compiles less, and needs fewer threads. */
const quickStart = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto']

async function start(
  java: string,
  jars: string,
  folder: string,
  { advertised, secured }: KafkaOptions,
): Promise<Broker> {
  const [port, controller] = [await freePort(), await freePort()]
  writeFileSync(
    join(folder, 'server.properties'),
    properties(folder, { port, controller, advertised: advertised ?? port }, secured),
  )
  const classes = ['-cp', join(jars, '*')]
  const id = randomBytes(16).toString('base64url')
  const users = scram.flatMap((mechanism) =>
    secured ? ['--add-scram', `${mechanism}=[name=${secured.username},password=${secured.password}]`] : [],
  )
  const format = ['format', '--standalone', '-t', id, '-c', 'server.properties', ...users]
  await run(java, [...quickStart, '-Xmx256m', ...classes, 'kafka.tools.StorageTool', ...format], { cwd: folder })
  const boot = (): Promise<Server> =>
    startServer({
      program: java,
      args: [...quickStart, '-Xmx384m', ...classes, 'kafka.Kafka', 'server.properties'],
      folder,
      ready: /Kafka Server started/,
    })
  let node = await boot()
  return {
    address: `${secured ? 'localhost' : '127.0.0.1'}:${port}`,
    kill: () => node.end('keep'),
    async restart() {
      node = await boot()
    },
    async stop() {
      await node.end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** One broker without replication. Topics are created when they are first used, as in many clusters of operators. */
function properties(
  folder: string,
  ports: { port: number; controller: number; advertised: number },
  secured: KafkaOptions['secured'],
): string {
  const { controller } = ports
  const clients = secured ? 'SASL_SSL://localhost' : 'PLAINTEXT://127.0.0.1'
  const listeners = (port: number): string => `${clients}:${port},CONTROLLER://127.0.0.1:${controller}`
  return Object.entries({
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.bootstrap.servers': `127.0.0.1:${controller}`,
    listeners: listeners(ports.port),
    'advertised.listeners': listeners(ports.advertised),
    'controller.listener.names': 'CONTROLLER',
    ...(secured ? securityProperties(secured) : { 'inter.broker.listener.name': 'PLAINTEXT' }),
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL',
    'log.dirs': join(folder, 'data'),
    'num.partitions': 3,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    // A killed broker can only rejoin when its old session has ended: shorten the session.
    'broker.session.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
    'group.min.session.timeout.ms': 1_000,
    'log.cleaner.enable': false,
    // An idle controller writes nothing. By default it writes a record each half second.
    'metadata.max.idle.interval.ms': 0,
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}

const scram = ['SCRAM-SHA-256', 'SCRAM-SHA-512']

function securityProperties({ key, cert, username, password }: NonNullable<KafkaOptions['secured']>) {
  const login = `org.apache.kafka.common.security`
  const oneLine = (pem: string): string => pem.trim().replaceAll(/\r?\n/g, ' \\\n')
  return {
    'inter.broker.listener.name': 'SASL_SSL',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'sasl.enabled.mechanisms': ['PLAIN', ...scram, 'OAUTHBEARER'].join(),
    // Without further settings, the broker accepts unsigned tokens.
    'listener.name.sasl_ssl.oauthbearer.sasl.jaas.config': `${login}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
    'listener.name.sasl_ssl.plain.sasl.jaas.config': `${login}.plain.PlainLoginModule required username="${username}" password="${password}" user_${username}="${password}";`,
    ...Object.fromEntries(
      scram.map((mechanism) => [
        `listener.name.sasl_ssl.${mechanism.toLowerCase()}.sasl.jaas.config`,
        `${login}.scram.ScramLoginModule required;`,
      ]),
    ),
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.key': oneLine(key),
    'ssl.keystore.certificate.chain': oneLine(cert),
    // Without the prefix, a listener with SASL ignores it.
    'listener.name.sasl_ssl.ssl.client.auth': 'required',
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.certificates': oneLine(cert),
  }
}

async function findPrograms(): Promise<{ readonly java: string; readonly jars: string }> {
  const [java, mvn] = [findProgram('java'), findProgram('mvn')]
  if (!java || !mvn) {
    if (!isDebian()) throw new Error(`${java ? 'mvn' : 'java'} is not on PATH`)
    if (!isRoot()) throw new Error(`${java ? 'mvn' : 'java'} is not on PATH, and only root can install it`)
    await install(...packages)
  }
  return { java: findProgram('java') as string, jars: join(await cached(`kafka-${version}`, fetchJars), 'lib') }
}

/** Downloads Kafka with the machine's own configuration of Maven, which determines the repository. */
async function fetchJars(folder: string): Promise<void> {
  const dependency = (group: string, artifact: string, of: string): string =>
    `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${of}</version></dependency>`
  // The version of slf4j-simple must match the slf4j-api that Kafka depends on.
  writeFileSync(
    join(folder, 'pom.xml'),
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>kafka-broker</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>${dependency('org.apache.kafka', 'kafka_2.13', version)}${dependency('org.slf4j', 'slf4j-simple', '1.7.36')}</dependencies>
</project>`,
  )
  const copy = ['dependency:copy-dependencies', '-DoutputDirectory=lib.part', '-DincludeScope=runtime']
  // Maven ends before its code would pay for a better compilation.
  const env = { ...process.env, MAVEN_OPTS: `${process.env.MAVEN_OPTS ?? ''} -XX:TieredStopAtLevel=1` }
  await run(findProgram('mvn') as string, ['-q', '-B', ...copy], { cwd: folder, env })
  renameSync(join(folder, 'lib.part'), join(folder, 'lib'))
}
