import { type AddressOptions, createCaller } from '../../../base/http-client/caller.ts'
import { clock } from '../../../base/runtime/clock.ts'
import type { AlertSender, Notice } from '../alerts.ts'
import { type Origin, phraseNotices, phraseSubject } from '../phrase-notices.ts'

export interface AlertWebhookOptions extends AddressOptions {
  /** The address, which may contain a secret. */
  readonly url: string
  readonly body: keyof typeof bodies
  readonly origin: Origin
}

/** Posts the notices to a URL: as they are, or as a message of Slack or Teams. */
export function alertWebhook({ url, body, origin, ...address }: AlertWebhookOptions): AlertSender {
  const caller = createCaller({ ...address, url })
  return {
    name: `webhook ${new URL(url).host}`,
    async send(notices, withinMs) {
      const text = JSON.stringify(bodies[body](origin, notices))
      const headers = { 'content-type': 'application/json' }
      const deadline = clock.now() + withinMs
      const answer = await caller.call({ headers, body: text, most: 65_536, deadline })
      if ('lost' in answer) throw answer.lost
      if (answer.status >= 300) throw new Error(`${new URL(url).host} answered ${answer.status}`)
    },
    close: () => caller.close(),
  }
}

const bodies = {
  generic: (origin: Origin, notices: readonly Notice[]) => ({
    from: origin,
    notices: notices.map(({ name, says, remedy, since, endedAt }) => ({
      state: endedAt === undefined ? 'began' : 'ended',
      name,
      says,
      remedy,
      since: new Date(since).toISOString(),
      ...(endedAt !== undefined && { ended_at: new Date(endedAt).toISOString() }),
    })),
  }),
  slack: (origin: Origin, notices: readonly Notice[]) => ({
    text: `*${escapeSlack(phraseSubject(origin, notices))}*\n${escapeSlack(phraseNotices(notices))}`,
  }),
  teams: (origin: Origin, notices: readonly Notice[]) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [phraseSubject(origin, notices), ...notices.map((notice) => phraseNotices([notice]))].map(
            (text, i) => ({
              type: 'TextBlock',
              text: text.replaceAll('\n', '\n\n'),
              wrap: true,
              ...(i === 0 && { weight: 'Bolder' }),
            }),
          ),
        },
      },
    ],
  }),
}

const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
