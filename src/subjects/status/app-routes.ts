// Statuses that pages and apps report (§1.5, row 23): POST /app/status with a subscriber token, and POST /app/receipts with the
// receipt token of one message.

import { type TObject, Type } from 'typebox'
import { type AppRoute, appRoute, type ReceiptRoute } from '../../base/http/app-access.ts'
import { HttpError } from '../../base/http/http-error.ts'
import type { Route } from '../../base/http/route.ts'
import { clock } from '../../base/runtime/clock.ts'
import { closedObject, timeText } from '../../contract/documents/described.ts'
import type { ReceiptOf } from '../../contract/receipt-token.ts'
import type { MessageStatus } from '../../contract/status.ts'
import { readTimestamp, type Timestamp, timestampOf } from '../../contract/timestamp.ts'
import type { StatusRecorder } from './recorder.ts'

/** A person's device cannot report that a message was sent, or that it failed. */
const reported = ['delivered', 'displayed', 'opened', 'dismissed', 'clicked'] as const satisfies MessageStatus[]

const status = Type.Enum([...reported], { description: 'The status of row 23' })

/** Most statuses in one request. */
const mostStatuses = 100

const AppStatuses = closedObject({
  statuses: Type.Array(
    closedObject({
      push_id: Type.String({ minLength: 1, maxLength: 100 }),
      status,
      timestamp: Type.Optional(
        timeText(
          readTimestamp,
          'The time of the event. Default: now. A time in the future or before the message is replaced by now.',
        ),
      ),
    }),
    { minItems: 1, maxItems: mostStatuses },
  ),
})

/** The route of apps, for push messages of their user. */
export function appStatusRoute({ record }: Pick<StatusRecorder, 'record'>): AppRoute {
  return appRoute({
    method: 'POST',
    url: '/app/status',
    says: 'Reports statuses of push messages of the user: delivered, displayed, opened, dismissed or clicked. Each is recorded once, with its first time.',
    body: AppStatuses,
    gives: Type.Object({
      unknown: Type.Array(Type.String(), { description: 'The identifiers of which the user has no message.' }),
    }),
    async handler({ body: { statuses } }, { brand, userId }) {
      const changes = statuses.map((each) => ({
        brand,
        ref: each.push_id,
        status: each.status,
        at: timeOf(each.timestamp),
      }))
      return { unknown: await record(changes, userId) }
    },
  })
}

const ReceiptStatus = closedObject({ status })
const ReceiptAnswer = Type.Object({ push_id: Type.String() })

/** The route of service workers, for the message of the receipt token. */
export function receiptRoute({ record }: Pick<StatusRecorder, 'record'>): ReceiptRoute {
  const route: Route<ReceiptOf, TObject, TObject, typeof ReceiptStatus, typeof ReceiptAnswer> = {
    method: 'POST',
    url: '/app/receipts',
    says: 'Reports a status of one push message, with the receipt token of its payload instead of a subscriber token. The service worker calls it.',
    body: ReceiptStatus,
    gives: ReceiptAnswer,
    refuses: { 404: 'The message was deleted by retention, or its statuses are not recorded.' },
    async handler({ body }, { brand, ref }) {
      const unknown = await record([{ brand, ref, status: body.status, at: timestampOf(clock.now()) }])
      if (unknown.length > 0)
        throw new HttpError(404, `there is no record of the message ${ref}: do not repeat the report`)
      return { push_id: ref }
    },
  }
  return route
}

function timeOf(text: string | undefined): Timestamp {
  return (text === undefined ? undefined : readTimestamp(text)) ?? timestampOf(clock.now())
}
