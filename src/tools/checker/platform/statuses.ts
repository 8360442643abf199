// §6.2, rows 23 and 24: delivery statuses, as an operator reports them by webhook.

import { clock } from '../../../base/runtime/clock.ts'
import { identifierOf, messageStatusPath } from '../../../contract/endpoints.ts'
import { mostStatusBytes } from '../../../contract/status-record.ts'
import { signWebhook, webhookKey, webhookToleranceMs } from '../../../contract/webhook-signature.ts'
import { type Check, checksOf, decision, type Scenario } from '../check.ts'
import type { Exchange } from '../exchange.ts'
import type { Message } from '../messages.ts'
import { isSuccess } from '../read-answer.ts'
import { expectAnswer, NotJudged } from '../verdict.ts'
import type { Lane } from './lane.ts'

const reported = {
  scope: 'first',
  needs: ['secret of statuses'],
  messages: 1,
  async run(lane) {
    const { make, play, target, call, facts } = lane
    const record = make.message()
    await play({ records: [record] })
    const key = webhookKey(facts.platform?.statusSecret ?? '')
    if (key === undefined) throw new Error('the secret of the statuses is not valid')
    let calls = 0
    const newId = (): string => `msg_bellwire-check-${make.mark}-${++calls}`
    const ref = `bellwire-check-${record.idJson}`
    const status = (name: string, identifier = ref, padding = 0): string =>
      statusRecord(identifierOf[target.channel], identifier, name, record, padding)
    const report = (label: string, body: string, { id = newId(), at = clock.now(), by = key } = {}) =>
      call({ label, path: messageStatusPath, key: 'none', body, headers: signWebhook([by], id, body, at) })
    const body = status('clicked')
    /** A call whose signature is changed, or left out. */
    const forge = (label: string, change: (signature: string) => string | undefined): Promise<Exchange> => {
      const { 'webhook-signature': right = '', ...others } = signWebhook([key], newId(), body, clock.now())
      const wrong = change(right)
      const headers = { ...others, ...(wrong !== undefined && { 'webhook-signature': wrong }) }
      return call({ label, path: messageStatusPath, key: 'none', body, headers })
    }
    const [delivered, clicked] = [newId(), newId()]
    return {
      one: await report('a status', status('delivered'), { id: delivered }),
      oneRepeated: await report('the call with one status again', status('delivered'), { id: delivered }),
      several: await report('two statuses in an array', `[${status('displayed')},${status('clicked')}]`, {
        id: clicked,
      }),
      severalRepeated: await report(
        'the call with two statuses again',
        `[${status('displayed')},${status('clicked')}]`,
        { id: clicked },
      ),
      backwards: await report('an earlier status after a later one', status('displayed')),
      unknown: await report(
        'a status of an identifier that nobody has answered',
        status('delivered', `bellwire-check-${make.mark}-unknown`),
      ),
      unsigned: [
        await call({ label: 'a status without a signature', path: messageStatusPath, key: 'none', body }),
        await report('a status with another secret', body, { by: Buffer.alloc(32, 7) }),
        await forge('a status with an id and a time, but no signature', () => undefined),
        await forge('a status with an empty signature', () => 'v1,'),
        await forge('a status with half a signature', (right) => right.slice(0, 24)),
        await forge('a status with a signature of another version', (right) => right.replace('v1,', 'v2,')),
      ],
      old: await report('a status that was signed ten minutes ago', status('clicked'), {
        at: clock.now() - 2 * webhookToleranceMs,
      }),
      unreadable: await report('a status that does not exist', status('bellwire-check')),
      tooLarge: await report('a call of more than 4 MiB', status('clicked', ref, mostStatusBytes)),
    }
  },
} satisfies Scenario<unknown, Lane>

/** The meta contains the activity record, as it was enqueued. */
function statusRecord(member: string, identifier: string, status: string, { text }: Message, padding: number): string {
  const [, activity = ''] = /^\{("activity":\{[^{}]*\})/.exec(text) ?? []
  const timestamp = new Date(clock.now()).toISOString()
  return `{"${member}":"${identifier}","status":"${status}","timestamp":"${timestamp}","meta":{${activity},"note":"${' '.repeat(padding)}"}}`
}

const isAccepted = ({ answer }: Exchange): boolean => answer !== undefined && isSuccess(answer)
const accepts = (exchange: Exchange): void => expectAnswer(exchange, isSuccess)
const refuses = (exchange: Exchange): void => expectAnswer(exchange, ({ status }) => status >= 400 && status <= 499)

export const statusChecks: readonly Check<Lane>[] = checksOf(reported, [
  {
    ...decision('status.accepted', '§6.2', 24),
    title: 'A signed status of a message is answered with a status from 200 to 299.',
    consequence: 'The operator repeats the status for ever, and the platform does not see its conversions.',
    remedy: 'Check the Standard Webhooks signature over the bytes as they arrived, store the status, and answer 200.',
    judge: ({ one }) => accepts(one),
  },
  {
    ...decision('status.several', '§6.2', 24),
    title: 'An array of statuses is accepted.',
    consequence: 'After an outage, the operator needs a request for each status.',
    remedy: 'Accept one record, or an array of at most 1,000 records.',
    judge: ({ several }) => accepts(several),
  },
  {
    ...decision('status.repeated', '§6.2', 24),
    title: 'A call that arrives twice is accepted twice.',
    consequence: 'The operator repeats the call for ever if its first answer was lost.',
    remedy: 'Answer a call with a known Webhook-Id as the first time, and count its statuses once.',
    judge: ({ one, several, oneRepeated, severalRepeated }) => {
      if (!isAccepted(one)) throw new NotJudged('the first call was not accepted (status.accepted)')
      accepts(oneRepeated)
      // A platform may take single records only (status.several).
      if (isAccepted(several)) accepts(severalRepeated)
    },
  },
  {
    ...decision('status.backwards', '§6.2', 23),
    title: 'An earlier status that arrives after a later one is accepted.',
    consequence: 'The operator repeats it for ever: networks deliver calls in any order.',
    remedy: 'Store the status with its time, and keep the highest status as the summary.',
    judge: ({ backwards }) => accepts(backwards),
  },
  {
    ...decision('status.unknown', '§6.2', 24),
    title: 'A status of an unknown identifier is accepted.',
    consequence: 'A status that overtakes the answer to its message is lost, or is repeated for ever.',
    remedy: 'Store the status until the answer with its identifier arrives, and show it to a person if none does.',
    judge: ({ unknown }) => accepts(unknown),
  },
  {
    ...decision('status.signature', '§6.2', 24),
    title: 'A call without a signature, with a part of it, of another version or by another secret is refused.',
    consequence: 'Anybody can report clicks and failures of any message.',
    remedy: 'Answer 401 unless a signature of the call fits one of the live secrets.',
    judge: ({ unsigned }) => {
      for (const exchange of unsigned) refuses(exchange)
    },
  },
  {
    ...decision('status.old', '§6.2', 24),
    title: 'A call that was signed more than five minutes ago is refused.',
    consequence: 'A recorded call can be sent again at any time.',
    remedy: 'Compare Webhook-Timestamp with the clock, and answer 401 if they differ by more than five minutes.',
    judge: ({ old }) => refuses(old),
  },
  {
    ...decision('status.unreadable', '§6.2', 24),
    title: 'A status that does not exist is refused, or is accepted for a person to look at.',
    consequence: 'With a status from 500, the operator repeats the call for ever.',
    remedy: 'Answer 400 with an error that names the status, or store the record for a person.',
    judge: ({ unreadable }) => expectAnswer(unreadable, ({ status }) => status >= 200 && status <= 499),
  },
  {
    ...decision('status.too-large', '§6.2', 24),
    title: 'A call of more than 4 MiB is refused.',
    consequence: 'One caller can fill the memory of the platform.',
    remedy: 'Limit the size of the body, and answer 413.',
    judge: ({ tooLarge }) => {
      // A server may close the connection instead of reading the whole body.
      if (tooLarge.lost?.how === 'cut') return
      refuses(tooLarge)
    },
  },
])
