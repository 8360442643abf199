import { loadPackage } from '../../../base/runtime/optional-package.ts'
import { within } from '../../../base/runtime/within.ts'
import type { AlertSender } from '../alerts.ts'
import { type Origin, phraseNotices, phraseSubject } from '../phrase-notices.ts'

export interface AlertMailOptions {
  /** smtp://HOST:587 (with STARTTLS, where the server has it) or smtps://USER:PASSWORD@HOST. */
  readonly smtp: string
  readonly from: string
  readonly to: readonly string[]
  readonly origin: Origin
}

/** Sends the notices as one plain mail. */
export function alertMail({ smtp, from, to, origin }: AlertMailOptions): AlertSender {
  const limits = { connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 10_000 }
  const { hostname, port, protocol, username, password } = new URL(smtp)
  const secure = protocol === 'smtps:'
  const { createTransport } = loadPackage<typeof import('nodemailer')>('nodemailer', 'alertMail')
  const transport = createTransport({
    host: hostname,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    ...limits,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    name: `mail ${hostname}`,
    async send(notices, withinMs) {
      const mail = { from, to: [...to], subject: phraseSubject(origin, notices), text: phraseNotices(notices) }
      await within(withinMs, transport.sendMail(mail))
    },
    async close() {
      transport.close()
    },
  }
}
