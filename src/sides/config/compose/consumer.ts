import { readFile } from 'node:fs/promises'
import { amqpConsumer } from '../../../base/brokers/amqp-consumer.ts'
import type { BrokerConsumer } from '../../../base/brokers/consumer.ts'
import type { KafkaAddress, Sasl } from '../../../base/brokers/kafka-address.ts'
import { kafkaConsumer } from '../../../base/brokers/kafka-consumer.ts'
import { oauth2Client } from '../../../base/http-client/oauth2.ts'
import { createTokenCache } from '../../../base/http-client/token-cache.ts'
import type { ConsumedFrom } from '../../../subjects/settings/broker.ts'
import { certificateOptions } from './services/address.ts'
import { refuse } from './services/files.ts'

/**
 * @param name the default name of the queue or topic
 * @param at the path of the settings: 'platform.intake[0].from'
 */
export async function createConsumer(from: ConsumedFrom, name: string, at: string): Promise<BrokerConsumer> {
  const certificates = await certificateOptions(from, at)
  switch (from.is) {
    case 'amqp': {
      const { is, queue = name, ca, clientCertificate, clientKey, ...options } = from
      return amqpConsumer({ ...options, queue, ...certificates })
    }
    case 'kafka':
      return kafkaConsumer({
        ...kafkaAddress(from, at),
        ...certificates,
        topic: from.topic ?? name,
        ...(from.group !== undefined && { group: from.group }),
        declare: from.declare,
      })
  }
}

type KafkaConfig = Omit<Extract<ConsumedFrom, { is: 'kafka' }>, 'is' | 'topic' | 'group' | 'declare'>

/** @param at the path of the settings: 'platform.intake[0].from' */
export function kafkaAddress(config: KafkaConfig, at: string): KafkaAddress {
  const { brokers, tls } = config
  const sasl = saslOf(config, at)
  return { brokers, tls, ...(sasl && { sasl }) }
}

function saslOf({ mechanism, username, password = '', ...config }: KafkaConfig, at: string): Sasl | undefined {
  if (mechanism === 'OAUTHBEARER') return { mechanism, token: tokenOf(config, at) }
  return username === undefined ? undefined : { mechanism, username, password }
}

function tokenOf(
  { tokenFile, tokenUrl, clientId, clientSecret, scope }: Omit<KafkaConfig, 'mechanism'>,
  at: string,
): () => Promise<string> {
  const remedy = 'OAUTHBEARER takes its token from token_file, or from oauth2 with client_id and client_secret'
  if ((tokenFile === undefined) === (tokenUrl === undefined))
    refuse(`${at}.token_file`, `set ${tokenFile === undefined ? 'either' : 'only one of'} this or oauth2`, remedy)
  if (tokenFile !== undefined) return async () => (await readFile(tokenFile, 'utf8')).trim()
  if (clientId === undefined || clientSecret === undefined)
    refuse(`${at}.client_${clientId === undefined ? 'id' : 'secret'}`, 'is missing', remedy)
  const client = oauth2Client({
    tokenUrl: tokenUrl as string,
    clientId,
    clientSecret,
    ...(scope !== undefined && { scope }),
  })
  const tokens = createTokenCache(client.fetch)
  return async () => tokens.get()
}
