import { subscribe } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'
import type * as Kafka from '@platformatic/kafka'
import { loadPackage } from '../runtime/optional-package.ts'

let loaded: typeof Kafka | undefined

/** Loads the client when it is first needed. @throws an error with the command that installs it */
export function loadKafka(): typeof Kafka {
  loaded ??= load()
  return loaded
}

function load(): typeof Kafka {
  const kafka = loadPackage<typeof Kafka>('@platformatic/kafka', 'A channel over Kafka')
  // A connection that its broker closes during the SASL handshake emits an error to which the client does not listen any more: it
  // would end the process. The call that needs the connection fails all the same.
  subscribe(kafka.instancesChannel.name as string, (created) => {
    const { type, instance } = created as { readonly type: string; readonly instance: EventEmitter }
    if (type === 'connection') instance.on('error', () => {})
  })
  return kafka
}
