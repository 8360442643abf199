// What became of this message?

import { HttpError } from '../../../base/http/http-error.ts'
import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import { readMessageKey } from '../../../contract/message-key.ts'
import { composeLife, type Delivery, type Life, phraseDecision, type Step } from '../../admin/message-life.ts'
import type { CallRoute } from '../call-route.ts'
import { hideSecrets } from '../hide-secrets.ts'
import { badge, crumb, duration, facts, type Html, html, moment } from '../html.ts'
import type { Page, Visit } from '../page.ts'
import { offers } from './act-fields.ts'
import { pauseOf } from './lane-facts.ts'
import { describeReason } from './reason-facts.ts'

export const messagePage: Page = {
  path: '/message',
  title: 'Message',
  needs: 'GET /admin/messages',
  within: '/messages',
  // Not live: each look at a person's data is recorded.
  async still(visit) {
    const { life, answer, text, reason, problem } = await readMessage(visit)
    const { id, user_id: user, brand, channel, activity, action, identifiers, steps } = life
    const outcome = life.platform?.outcome ?? life.operator?.outcome ?? 'waiting'
    const lane = life.platform?.lane
    return html`!${crumb(visit.link('/messages'), 'Messages')}<h1>Message ${id} !${badge(outcome)}</h1>
!${reason === undefined ? '' : whyOf(reason, steps)}
!${facts([
      [
        'User',
        html`<a href="${visit.link('/messages', { find: user, brand })}"><bdi>${user}</bdi></a> of brand ${brand}`,
      ],
      [
        lane === undefined ? 'Channel' : 'Lane',
        lane === undefined ? html`${channel}` : html`<a href="${visit.link('/lane', { name: lane })}">${lane}</a>`,
      ],
      ['Activity', html`${activity ?? '–'}, action ${action ?? '–'}`],
      ...(identifiers.length === 0
        ? []
        : [['Identifier', html`!${identifiers.map(({ ref }) => html`<code>${ref}</code>`).join(', ')}`] as const]),
      ...statusOf(life),
    ])}
!${decisionsOf(visit, life)}
!${problem === undefined ? '' : html`<p class="lead">${problem}</p>`}
<h2>Step by step</h2><ol class="line">!${steps.map((step) => stepOf(withoutOthers(step, steps)))}</ol>
!${text === undefined ? '' : html`<details id="request"><summary>The request</summary><pre>${hideSecrets(text)}</pre></details>`}
<details id="json"><summary>As JSON</summary><pre>${hideSecrets(jsonOf(answer, steps))}</pre></details>`
  },
}

interface Read {
  readonly life: Life
  readonly answer: object
  readonly text?: string | undefined
  readonly reason?: string | undefined
  /** Why the steps of the other side are missing. */
  readonly problem?: string | undefined
}

async function readMessage(visit: Visit): Promise<Read> {
  const { seq = '', ref = '' } = visit.query
  if (visit.side === 'operator') {
    const {
      request: text,
      tracking: _,
      ...operator
    } = await visit.call('GET /admin/messages/:ref', { params: { ref } })
    const { platform, problem } = await readPlatform(visit, operator)
    return {
      life: composeLife(operator, { operator, ...(platform && { platform }) }),
      problem,
      answer: operator,
      text,
      reason: operator.refusals.at(-1)?.reason,
    }
  }
  if (!/^\d{1,15}$/.test(seq)) throw new HttpError(404, 'there is no such message')
  const platform = await visit.call('GET /admin/messages/:seq', { params: { seq: Number(seq) } })
  const brand = platform.lane.split('/')[0] as string
  const failed = platform.failed && visit.can('GET /admin/failed/:seq') ? await readText(visit, Number(seq)) : undefined
  // A platform that delivers the message itself has all its steps.
  const { operator, problem } = platform.delivery
    ? { operator: undefined, problem: undefined }
    : await readOperator(visit, { brand, key: platform.key })
  return {
    life: composeLife({ brand, key: platform.key }, { platform, ...(operator && { operator }) }),
    problem,
    answer: platform,
    text: failed,
    reason: platform.reason,
  }
}

type Named = Pick<Delivery, 'brand' | 'key'>

/** The message at the operator. It is the same if brand and key are. */
const readOperator = (visit: Visit, { brand, key }: Named) =>
  fromOther(visit, 'operator', async (call) => {
    const { messages } = await call('GET /admin/messages', { query: { id: readMessageKey(key).id } })
    const found = messages.find((each) => 'brand' in each && each.brand === brand && each.key === key)
    return found && 'ref' in found ? call('GET /admin/messages/:ref', { params: { ref: found.ref } }) : undefined
  })

const readPlatform = (visit: Visit, { brand, key }: Named) =>
  fromOther(visit, 'platform', async (call) => {
    const { messages } = await call('GET /admin/messages', { query: { id: readMessageKey(key).id } })
    const found = messages.find((each) => 'lane' in each && each.lane.startsWith(`${brand}/`) && each.key === key)
    return found && 'seq' in found ? call('GET /admin/messages/:seq', { params: { seq: found.seq } }) : undefined
  })

async function fromOther<Side extends 'operator' | 'platform', Message>(
  { callOther }: Visit,
  side: Side,
  read: (call: CallRoute) => Promise<Message | undefined>,
): Promise<{ readonly [Each in Side]?: Message | undefined } & { readonly problem?: string }> {
  if (!callOther) return {} as never
  try {
    const message = await read(callOther)
    return (message ? { [side]: message } : { problem: `The ${side} has no such message.` }) as never
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    return { problem: `The steps of the ${side} are missing: ${error.message}.` } as never
  }
}

/** The text of a failed message. A message that was erased has none. */
async function readText(visit: Visit, seq: number): Promise<string | undefined> {
  try {
    return (await visit.call('GET /admin/failed/:seq', { params: { seq } })).text
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return undefined
    throw error
  }
}

/** The reason in plain words, with the remedy. */
function whyOf(reason: string, steps: readonly Step[]): Html {
  const known = describeReason(reason)
  const error = steps.findLast((step) => step.error !== undefined)?.error
  return html`<p class="note bad"><strong>!${known?.says ?? html`${reason}`}</strong>!${error === undefined ? '' : html` ${error}`}!${known ? html`<br>What to do: !${known.remedy}` : ''}</p>`
}

function statusOf({ platform, operator, delivery }: Life): readonly (readonly [string, Html])[] {
  const delivered = delivery ?? operator
  return [
    ...(platform ? [['Number', html`${platform.seq}`] as const] : []),
    ...(platform?.status === undefined ? [] : [['Reported', badge(platform.status)] as const]),
    ...(platform?.failed ? [['Failed Actions', badge(platform.failed.state)] as const] : []),
    ...(platform?.erased ? [['Text', html`erased`] as const] : []),
    ...(delivered === undefined
      ? []
      : [
          [
            'Delivery',
            html`!${badge(delivered.outcome)} after ${phraseCount(delivered.attempts, 'attempt')}!${delivered.uncertain > 0 ? html`, ${phraseCount(delivered.uncertain, 'attempt')} without an answer may have arrived` : ''}`,
          ] as const,
        ]),
    ...(delivered?.permission
      ? [
          [
            'Permission',
            html`${phraseDecision(delivered.permission.decided)}, by ${delivered.permission.source} !${moment(delivered.permission.read_at)}`,
          ] as const,
        ]
      : []),
  ]
}

function decisionsOf(visit: Visit, { platform }: Life): Html {
  if (platform?.failed?.state !== 'pending') return ''
  const { lane, seq } = platform
  return offers(visit, [
    ['POST /admin/failed/replay', visit.link('/failed/replay', { lane, seq }), 'Replay'],
    ['POST /admin/failed/dismiss', visit.link('/failed/dismiss', { lane, seq }), 'Dismiss'],
  ])
}

const names: Readonly<Record<Step['step'], string>> = {
  enqueued: 'Enqueued',
  call: 'Call',
  claimed: 'Claimed',
  device: 'Device',
  attempt: 'Attempt',
  replayed: 'Replayed',
  dismissed: 'Dismissed',
  settled: 'Settled',
  reported: 'Status reported',
  waits: 'Waits',
}
const tones: Readonly<Record<string, string>> = {
  successful: 'good',
  failed: 'bad',
  fatal: 'warn',
  held: 'bad',
  paused: 'warn',
}

function stepOf(step: Step): Html {
  const { at, side, state, attempt, rule, error, answer, pauses = [], held_reason: held } = step
  const notes = [
    ...pauses.map(pauseOf),
    ...(held === undefined
      ? []
      : [
          html`The lane is held: ${held}!${step.next_try_at === undefined ? '' : html`; next try !${moment(step.next_try_at)}`}`,
        ]),
    ...(error === undefined || error === held ? [] : [html`${hideSecrets(error)}`]),
    ...(answer === undefined ? [] : [html`<code>${hideSecrets(answer)}</code>`]),
  ]
  return html`<li class="${tones[state ?? ''] ?? ''}"><p><strong>${names[step.step]}${attempt === undefined || step.step === 'settled' ? '' : ` ${attempt}`}</strong> !${state === undefined ? '' : badge(state)} <span class="muted">${side},</span> !${at === null ? html`<span class="muted">now</span>` : moment(at)}</p>
<p>${[rule, ...detailsOf(step)].filter(Boolean).join(', ')}</p>!${notes.map((note) => html`<p class="muted">!${note}</p>`)}</li>`
}

function detailsOf(step: Step): readonly string[] {
  const { service, device, provider, messages, ms, reason, status, by, ref, uncertain } = step
  return [
    ...(service === undefined ? [] : [service]),
    ...(device === undefined ? [] : [`device ${device}`]),
    ...(provider === undefined || messages === undefined || ms === undefined
      ? []
      : [`${provider}, ${phraseCount(messages, 'message')} in ${ms < 1_000 ? `${ms} ms` : duration(ms)}`]),
    ...(reason === undefined ? [] : [reason]),
    ...(status === undefined ? [] : [`HTTP status ${status}`]),
    ...(by === undefined ? [] : [`by ${by}`]),
    ...(ref === undefined ? [] : [`identifier ${ref}`]),
    ...(uncertain ? ['no answer, it may have arrived'] : []),
  ]
}

/** The answer to a batch names the other messages of the batch. */
const isOfBatch = ({ call }: Step, steps: readonly Step[]): boolean =>
  steps.some((each) => each.step === 'call' && each.call === call && each.messages !== 1)

function withoutOthers(step: Step, steps: readonly Step[]): Step {
  if (!isOfBatch(step, steps)) return step
  const { answer: _, ...own } = step
  return own
}

function jsonOf(answer: object, steps: readonly Step[]): string {
  const hasBatch = steps.some((step) => isOfBatch(step, steps))
  return JSON.stringify(answer, (name, value) => (name === 'answer' && hasBatch ? undefined : value), 2)
}
