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
  // Errors come from other servers: their asterisks must not make bold text. Entities are read nevertheless.
  slack: (origin: Origin, notices: readonly Notice[]) => ({
    mrkdwn: false,
    text: escapeSlack(`${phraseSubject(origin, notices)}\n${phraseNotices(notices)}`),
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
          body: [
            plainLine(phraseSubject(origin, notices), { weight: 'Bolder' }),
            ...notices.flatMap((notice) => {
              const lines = phraseNotices([notice]).split(/[\r\n]+/)
              return lines.map((line, i) => ({ ...plainLine(line), ...(i > 0 && { spacing: 'None' }) }))
            }),
          ],
        },
      },
    ],
  }),
}

/** A TextBlock is Markdown, whose escapes Teams shows on phones. */
const plainLine = (text: string, style: object = {}) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, ...style }],
})

const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
