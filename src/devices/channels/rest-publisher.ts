// Publishes device links over REST (§4.2), one request for each message.

import { readDeviceAnswer, withoutAnswer } from '../../contract/device-answer.ts'
import { apiKeyHeader, deviceLink, deviceUnlink } from '../../contract/endpoints.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { createMisconfigurationAlert } from '../../runtime/misconfiguration-alert.ts'
import { createJsonPoster, type PostContext } from '../../runtime/post-json.ts'
import { type DeviceMessage, type DevicePublisher, inOrder } from '../device-channel.ts'

export interface RestPublisherOptions {
  /** {platform_url} of §4.2. May contain a path. */
  readonly url: string
  /** The API key issued by the platform, sent as X-Api-Key (row 15). */
  readonly apiKey: string
  /** Concurrent requests, each for another user. Default: 8. */
  readonly connections?: number
}

/** @example restPublisher({ url: 'https://brand.platform.example/integration-api/api', apiKey: '…' }) */
export function restPublisher({ url, apiKey, connections = 8 }: RestPublisherOptions): DevicePublisher {
  const poster = createJsonPoster(url, connections)
  const headers = { [apiKeyHeader]: apiKey }
  const alert = createMisconfigurationAlert(
    'device links over REST',
    'correct operator.publish[].to; waiting messages are then published automatically',
  )

  async function postRecord({ what, body }: DeviceMessage, context: PostContext): Promise<Outcome> {
    const posted = await poster.post((what === 'link' ? deviceLink : deviceUnlink).path, body, headers, context)
    return 'lost' in posted ? withoutAnswer(posted.lost, posted.isLate) : readDeviceAnswer(posted)
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
    close: () => poster.close(),
  }
}
