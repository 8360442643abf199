// Publishes device links over REST (§4.2), one request for each message.

import { callPlatform, type PostContext } from '../../../base/http-client/call-platform.ts'
import { type AddressOptions, createCaller } from '../../../base/http-client/caller.ts'
import { createMisconfigurationAlert } from '../../../base/runtime/misconfiguration-alert.ts'
import { apiKeyHeaders, deviceLink, deviceUnlink } from '../../../contract/endpoints.ts'
import type { Outcome } from '../../../contract/outcome.ts'
import { type DeviceMessage, type DevicePublisher, inOrder } from '../device-publisher.ts'

export interface RestPublisherOptions extends AddressOptions {
  /** {platform_url} of §4.2. May contain a path. */
  readonly url: string
  /** The API key issued by the platform, sent as X-Api-Key (row 15). */
  readonly apiKey?: string | undefined
  /** Concurrent requests, each for another user. Default: 8. */
  readonly connections?: number
}

/** @example restPublisher({ url: 'https://brand.platform.example/integration-api/api', apiKey: '…' }) */
export function restPublisher(options: RestPublisherOptions): DevicePublisher {
  const { apiKey, connections = 8 } = options
  const caller = createCaller({ ...options, connections, headers: apiKeyHeaders(apiKey) })
  const alert = createMisconfigurationAlert(
    'device links over REST',
    'correct operator.publish[].to; waiting messages are then published automatically',
  )

  function postRecord({ what, body }: DeviceMessage, context: PostContext): Promise<Outcome> {
    return callPlatform(caller, { path: (what === 'link' ? deviceLink : deviceUnlink).path, body }, context)
  }

  return {
    name: 'rest',
    max: 1,
    concurrency: connections,
    async publish(messages, context) {
      const outcomes: Outcome[] = []
      for (const message of messages) {
        const before = outcomes.at(-1)
        outcomes.push(before?.category === 'fatal' ? before : await postRecord(message, context))
      }
      for (const outcome of outcomes) alert(outcome)
      return inOrder(outcomes)
    },
    close: () => caller.destroy(),
  }
}
