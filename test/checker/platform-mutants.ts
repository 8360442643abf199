// Broken variants of the plain platform: at least one for each check.

import type { EndpointRules } from './plain-endpoints.ts'
import type { Answer, Mode, Outcome, PlatformMutation, Rules, Waiting } from './plain-platform.ts'

export interface PlatformMutant {
  /** The fault, as a developer would make it. */
  readonly fault: string
  /** The check that finds it. */
  readonly check: string
  /** Other checks that the fault also violates. All other checks must pass, or not be judged because of the fault. */
  readonly also?: readonly string[]
  readonly modes?: Readonly<Record<'push' | 'site', Mode>>
  /** The checks to run; default: all but those of pauses, which take seconds. */
  readonly only?: readonly string[]
  readonly mutate: PlatformMutation
}

/** Changes how the outcomes of an answer are read. */
const readsOutcomes =
  (
    change: (answer: Answer, sent: readonly Waiting[], mode: Mode, correct: Rules) => readonly Outcome[] | undefined,
  ): PlatformMutation =>
  (correct) => ({
    outcomes: (answer, sent, mode) => change(answer, sent, mode, correct) ?? correct.outcomes(answer, sent, mode),
  })

const all = (sent: readonly Waiting[], outcome: Outcome): readonly Outcome[] => sent.map(() => outcome)
/** Changes the members of `activity`, except the id. */
const changesMembers =
  (change: (activity: Record<string, unknown>) => void): PlatformMutation =>
  () => ({
    element({ text }) {
      const { activity, ...rest } = JSON.parse(text) as { activity: Record<string, unknown> }
      const id = /"id":(\d+)/.exec(text)?.[1] ?? ''
      change(activity)
      return JSON.stringify({ activity: { ...activity, id: 0 }, ...rest }).replace('"id":0', `"id":${id}`)
    },
  })

const changesEndpoints =
  (change: Partial<EndpointRules>): PlatformMutation =>
  ({ endpoints }) => ({ endpoints: { ...endpoints, ...change } })

let copies = 0

export const platformMutants: readonly PlatformMutant[] = [
  {
    fault: 'sends with PUT',
    check: 'request.arrives',
    mutate: () => ({ method: 'PUT' }),
  },
  {
    fault: 'sends the key as a bearer token',
    check: 'request.key',
    mutate: () => ({ headers: () => ({ 'content-type': 'application/json', authorization: 'Bearer key' }) }),
  },
  {
    fault: 'sends the key only with the first attempt',
    check: 'request.key',
    mutate: (correct) => ({
      headers(attempts) {
        const { 'x-api-key': _, ...others } = correct.headers(attempts)
        return attempts > 1 ? others : correct.headers(attempts)
      },
    }),
  },
  {
    fault: 'labels a repeated request as text',
    check: 'request.content-type',
    mutate: (correct) => ({
      headers: (attempts) => ({
        ...correct.headers(attempts),
        ...(attempts > 1 && { 'content-type': 'text/plain' }),
      }),
    }),
  },
  {
    fault: 'parses ids as floating-point numbers when it repeats a message',
    check: 'record.id',
    also: ['repeat.same'],
    modes: { push: 'single', site: 'single' },
    only: ['record', 'request', 'repeat', 'lost'],
    mutate: () => ({
      element: ({ text, attempts }) =>
        attempts > 1 ? text.replace(/"id":(\d+)/, (_, id: string) => `"id":${id}.0`) : text,
    }),
  },
  {
    fault: 'sends single messages as an array of one record',
    check: 'request.json',
    modes: { push: 'single', site: 'single' },
    mutate: () => ({ body: (elements) => `[${elements.join()}]` }),
  },
  {
    fault: 'adds an element without activity to each batch',
    check: 'request.json',
    also: ['batch.maximum'],
    mutate: () => ({
      body: (elements, mode) => (mode === 'single' ? (elements[0] as string) : `[{"records":[]},${elements.join()}]`),
    }),
  },
  {
    fault: 'sends text/plain',
    check: 'request.content-type',
    mutate: (correct) => ({ headers: (n) => ({ ...correct.headers(n), 'content-type': 'text/plain' }) }),
  },
  {
    fault: 'parses ids as floating-point numbers',
    check: 'record.id',
    mutate: () => ({ element: ({ text }) => JSON.stringify(JSON.parse(text)) }),
  },
  {
    fault: 'sends brand_id as a text',
    check: 'record.members',
    mutate: changesMembers((activity) => {
      activity.brand_id = String(activity.brand_id)
    }),
  },
  {
    fault: 'leaves out the action group',
    check: 'record.members',
    mutate: changesMembers((activity) => {
      delete activity.action_group_id
    }),
  },
  {
    fault: 'writes the content as Latin-1',
    check: 'record.content',
    mutate: () => ({ element: ({ text }) => Buffer.from(text, 'utf8').toString('latin1') }),
  },
  {
    fault: 'loses every seventh record',
    check: 'request.all',
    also: ['batch.rest'],
    only: ['request', 'record', 'success', 'batch.rest'],
    mutate: () => ({ accepts: (_, number) => number % 7 !== 0 }),
  },
  {
    fault: 'forgets to acknowledge every fourth request',
    check: 'success.once',
    also: ['partial.once', 'single.2xx', 'answer.optional', 'answer.unknown'],
    only: ['success', 'request'],
    mutate: () => ({ keeps: (outcome) => outcome === 'retry' || ++copies % 4 === 0 }),
  },
  {
    fault: 'two workers send the same messages at the same time',
    check: 'request.in-flight',
    only: ['request', 'success', 'record'],
    mutate: () => ({ copies: 2 }),
  },
  {
    fault: 'sends a message again after 700 ms without an answer',
    check: 'lost.in-flight',
    mutate: () => ({ hedgeMs: 700 }),
  },
  {
    fault: 'cuts batches at twice the agreed number',
    check: 'batch.maximum',
    mutate: () => ({ max: 20 }),
  },
  {
    fault: 'sends after half of the agreed number',
    check: 'batch.full',
    mutate: () => ({ max: 5 }),
  },
  {
    fault: 'does not start the timer again after a full batch',
    check: 'batch.rest',
    also: ['request.all'],
    only: ['batch', 'request'],
    mutate: (correct) => {
      let afterFull = false
      return {
        cut(due, waitedMs, mode) {
          const sent = correct.cut.call({ ...correct, max: 10 }, due, afterFull ? 0 : waitedMs, mode)
          if (mode === 'batch' && sent.length > 0) afterFull = sent.length === 10
          return sent
        },
      }
    },
  },
  {
    fault: 'puts the first message into a batch twice',
    check: 'batch.distinct',
    also: ['batch.maximum'],
    mutate: () => ({
      body: (elements, mode) =>
        mode === 'single' ? (elements[0] as string) : `[${[...elements, elements[0]].join()}]`,
    }),
  },
  {
    fault: 'repeats failed messages',
    check: 'failed.skipped',
    also: ['failed-actions.listed'],
    mutate: readsOutcomes((answer, sent, mode, correct) =>
      mode === 'single'
        ? undefined
        : correct.outcomes(answer, sent, mode).map((outcome) => (outcome === 'failed' ? 'retry' : outcome)),
    ),
  },
  {
    fault: 'takes fatal messages for failed ones',
    check: 'fatal.repeated',
    also: ['failed-actions.only'],
    mutate: readsOutcomes((answer, sent, mode, correct) => {
      if (mode === 'single' || answer.status !== 200) return undefined
      const [, fatal = ''] = /"fatal":\[(.*)\]/.exec(answer.text) ?? []
      return correct
        .outcomes(answer, sent, mode)
        .map((outcome, place) =>
          outcome === 'retry' && fatal.includes(`"id":${sent[place]?.id}`) ? 'failed' : outcome,
        )
    }),
  },
  {
    fault: 'takes messages that are absent from the answer for delivered ones',
    check: 'absent.repeated',
    also: ['batch.unreadable'],
    mutate: readsOutcomes((answer, sent, mode, correct) => {
      if (mode === 'single' || answer.status !== 200) return undefined
      const [, fatal = ''] = /"fatal":\[(.*)\]/.exec(answer.text) ?? []
      return correct
        .outcomes(answer, sent, mode)
        .map((outcome, place) =>
          outcome === 'retry' && !fatal.includes(`"id":${sent[place]?.id}`) ? 'successful' : outcome,
        )
    }),
  },
  {
    fault: 'repeats the whole batch if one message is fatal or absent',
    check: 'partial.once',
    also: ['failed.skipped', 'answer.optional'],
    mutate: readsOutcomes((answer, sent, mode, correct) => {
      const outcomes = correct.outcomes(answer, sent, mode)
      return mode === 'batch' && outcomes.includes('retry') ? all(sent, 'retry') : outcomes
    }),
  },
  {
    fault: 'reads the outcomes by the place of the messages, not by their ids',
    check: 'partial.once',
    also: ['failed.skipped', 'fatal.repeated', 'absent.repeated', 'answer.unknown'],
    only: ['partial', 'failed', 'fatal', 'absent'],
    mutate: readsOutcomes((answer, sent, mode) => {
      if (mode === 'single' || answer.status !== 200 || !answer.text.startsWith('{')) return undefined
      const read = JSON.parse(answer.text) as Record<string, unknown[] | undefined>
      const outcomes: Outcome[] = []
      for (const _ of read.successful ?? []) outcomes.push('successful')
      for (const _ of read.failed ?? []) outcomes.push('failed')
      for (const _ of read.fatal ?? []) outcomes.push('retry')
      return sent.map((_, place) => outcomes[place] ?? 'retry')
    }),
  },
  {
    fault: 'writes the number of the attempt into a repeated record',
    check: 'repeat.same',
    mutate: () => ({
      element: ({ text, attempts }) => (attempts > 1 ? text.replace(/\}$/, `,"attempt":${attempts}}`) : text),
    }),
  },
  {
    fault: 'expects all three categories in an answer',
    check: 'answer.optional',
    also: ['answer.unknown'],
    mutate: readsOutcomes(({ status, text }, sent, mode) =>
      mode === 'batch' &&
      status === 200 &&
      !['successful', 'failed', 'fatal'].every((name) => text.includes(`"${name}"`))
        ? all(sent, 'retry')
        : undefined,
    ),
  },
  {
    fault: 'discards an answer with an unknown member',
    check: 'answer.unknown',
    mutate: readsOutcomes(({ status, text }, sent, mode) =>
      mode === 'batch' && status === 200 && text.includes('"note"') ? all(sent, 'retry') : undefined,
    ),
  },
  {
    fault: 'gives up on a batch after a 5xx',
    check: 'batch.5xx',
    mutate: readsOutcomes(({ status = 0 }, sent, mode) =>
      mode === 'batch' && status >= 500 ? all(sent, 'failed') : undefined,
    ),
  },
  {
    fault: 'gives up on a batch after a 503',
    check: 'batch.5xx',
    mutate: readsOutcomes(({ status = 0 }, sent, mode) =>
      mode === 'batch' && status === 503 ? all(sent, 'failed') : undefined,
    ),
  },
  {
    fault: 'skips a batch after a 4xx, like a single message',
    check: 'batch.4xx',
    mutate: readsOutcomes(({ status = 0 }, sent, mode) =>
      mode === 'batch' && status >= 400 && status < 500 ? all(sent, 'failed') : undefined,
    ),
  },
  {
    fault: 'counts a batch with 202 as delivered',
    check: 'batch.2xx',
    mutate: readsOutcomes(({ status = 0 }, sent, mode) =>
      mode === 'batch' && status > 200 && status < 300 ? all(sent, 'successful') : undefined,
    ),
  },
  {
    fault: 'counts a 200 that it cannot read as delivered',
    check: 'batch.unreadable',
    mutate: readsOutcomes(({ status, text }, sent, mode) =>
      mode === 'batch' && status === 200 && !text.startsWith('{') ? all(sent, 'successful') : undefined,
    ),
  },
  {
    fault: 'counts only 200 as delivered',
    check: 'single.2xx',
    mutate: readsOutcomes(({ status = 0 }, sent, mode) =>
      mode === 'single' && status > 200 && status < 300 ? all(sent, 'retry') : undefined,
    ),
  },
  {
    fault: 'repeats a single message after 429',
    check: 'single.4xx',
    mutate: readsOutcomes(({ status }, sent, mode) =>
      mode === 'single' && status === 429 ? all(sent, 'retry') : undefined,
    ),
  },
  {
    fault: 'repeats a single message after 408',
    check: 'single.4xx',
    mutate: readsOutcomes(({ status }, sent, mode) =>
      mode === 'single' && status === 408 ? all(sent, 'retry') : undefined,
    ),
  },
  {
    fault: 'skips a single message after 501',
    check: 'single.repeated',
    mutate: readsOutcomes(({ status }, sent, mode) =>
      mode === 'single' && status === 501 ? all(sent, 'failed') : undefined,
    ),
  },
  {
    fault: 'reads only answers whose content type is exactly application/json',
    check: 'answer.layout',
    mutate: readsOutcomes(({ status, headers }, sent, mode) =>
      mode === 'batch' && status === 200 && headers.get('content-type') !== 'application/json'
        ? all(sent, 'retry')
        : undefined,
    ),
  },
  {
    fault: 'looks for the categories without a JSON parser',
    check: 'answer.layout',
    mutate: readsOutcomes(({ status, text }, sent, mode) =>
      mode === 'batch' && status === 200 && /":\s|\s"/.test(text) ? all(sent, 'retry') : undefined,
    ),
  },
  {
    fault: 'repeats without a pause',
    check: 'pause.errors',
    // The pauses between its attempts are chance.
    only: ['pause.errors', 'pause.retry-after', 'lost'],
    mutate: (correct) => ({
      pauseMs: (_, answer) => (answer.headers.has('retry-after') ? correct.pauseMs(1, answer) : 0),
    }),
  },
  {
    fault: 'ignores Retry-After',
    check: 'pause.retry-after',
    mutate: (correct) => ({
      pauseMs: (attempts, answer) => correct.pauseMs(attempts, { ...answer, headers: new Headers() }),
    }),
  },
  {
    fault: 'follows redirects',
    check: 'redirect.not-followed',
    also: ['single.repeated'],
    mutate: () => ({ redirect: 'follow' }),
  },
  {
    fault: 'does not pass refused messages to Failed Actions',
    check: 'failed-actions.listed',
    mutate: () => ({ listsFailed: () => false }),
  },
  {
    fault: 'passes fatal messages to Failed Actions',
    check: 'failed-actions.only',
    mutate: () => ({ listsFailed: (outcome) => outcome !== 'successful' }),
  },
  {
    fault: 'passes each id under failed to Failed Actions',
    check: 'failed-actions.unknown',
    mutate: () => ({
      listsOthers: ({ text }) =>
        [...text.matchAll(/"id":(\d+),"error":"a message that was not in the batch"/g)].map(([, id = '']) => id),
    }),
  },
  {
    fault: 'requests lists with GET',
    check: 'list.request',
    mutate: (correct) => ({
      listRequest: (field) => {
        const { body: _, ...request } = correct.listRequest(field)
        return { ...request, method: 'GET' }
      },
    }),
  },
  {
    fault: 'requests lists without the key',
    check: 'list.key',
    mutate: (correct) => ({
      listRequest: (field) => ({ ...correct.listRequest(field), headers: { 'content-type': 'application/json' } }),
    }),
  },
  {
    fault: 'gives up on a list after 200 ms',
    check: 'list.streamed',
    mutate: (correct) => ({
      listRequest: (field) => ({ ...correct.listRequest(field), signal: AbortSignal.timeout(200) }),
    }),
  },
  {
    fault: 'expects a list to begin with the users',
    check: 'list.layout',
    mutate: (correct) => ({
      usesList: (text, isComplete) => text.startsWith('{"users"') && correct.usesList(text, isComplete),
    }),
  },
  {
    fault: 'uses a list with an error',
    check: 'list.error',
    mutate: () => ({ usesList: (text, isComplete) => isComplete && text.endsWith('}') }),
  },
  {
    fault: 'uses a list that is cut',
    check: 'list.cut',
    mutate: (correct) => ({ usesList: (text, isComplete) => !isComplete || correct.usesList(text, isComplete) }),
  },
  {
    fault: 'follows a redirect with GET',
    check: 'redirect.not-followed',
    modes: { push: 'batch', site: 'batch' },
    mutate: () => ({ redirect: 'follow' }),
  },
  {
    fault: 'skips a single message after a redirect',
    check: 'single.repeated',
    mutate: readsOutcomes(({ status }, sent, mode) =>
      mode === 'single' && status === 302 ? all(sent, 'failed') : undefined,
    ),
  },
  {
    fault: 'skips a single message after the third attempt',
    check: 'single.repeated',
    mutate: readsOutcomes((_, sent, mode) =>
      mode === 'single' && (sent[0]?.attempts ?? 0) >= 3 ? all(sent, 'failed') : undefined,
    ),
  },
  {
    fault: 'takes a broken connection for a refusal',
    check: 'lost.reset',
    also: ['lost.timeout'],
    mutate: readsOutcomes(({ status }, sent) => (status === undefined ? all(sent, 'failed') : undefined)),
  },
  {
    fault: 'counts an answer that is cut as delivered',
    check: 'lost.cut',
    mutate: readsOutcomes(({ incomplete }, sent) => (incomplete === 200 ? all(sent, 'successful') : undefined)),
  },
  {
    fault: 'sends an empty batch after each time span',
    check: 'batch.empty',
    mutate: () => {
      let turns = 0
      return { sendsEmpty: (mode) => mode === 'batch' && ++turns % 20 === 0 }
    },
  },
  {
    // With equal pauses, a delay of a busy machine would count as growth.
    fault: 'shortens its pauses',
    check: 'pause.grows',
    only: ['pause'],
    mutate: (correct) => ({
      pauseMs: (attempts, answer) =>
        Math.max(attempts === 1 ? 1_500 : 300, answer.headers.has('retry-after') ? correct.pauseMs(1, answer) : 0),
    }),
  },
  {
    fault: 'waits longer than the time span',
    check: 'batch.span',
    only: ['batch.span'],
    mutate: () => ({ spanMs: 1_200 }),
  },
  {
    fault: 'has its queue only in memory',
    check: 'restart.kept',
    only: ['restart'],
    mutate: () => ({ restored: () => [] }),
  },
  {
    fault: 'stores messages, but not their outcomes',
    check: 'restart.once',
    only: ['restart'],
    mutate: () => ({ restored: (waiting, settled) => [...settled, ...waiting] }),
  },
  {
    fault: 'has no timeout',
    check: 'lost.timeout',
    mutate: () => ({ timeoutMs: 60_000 }),
  },
  {
    fault: 'answers links with 404',
    check: 'link.accepted',
    also: ['link.repeated'],
    only: ['link'],
    mutate: changesEndpoints({ linkStatus: 404 }),
  },
  {
    fault: 'confirms links before it stores them, and crashes',
    check: 'link.listed',
    also: ['link.next', 'link.moved', 'link.header'],
    only: ['link'],
    mutate: changesEndpoints({ storesLinks: false }),
  },
  {
    fault: 'ignores unlinks',
    check: 'link.order',
    also: ['link.late'],
    only: ['link'],
    mutate: changesEndpoints({ appliesUnlinks: false }),
  },
  {
    fault: 'applies events in the order of their arrival',
    check: 'link.late',
    only: ['link'],
    mutate: changesEndpoints({ comparesTimes: false }),
  },
  {
    fault: 'takes the type of an event of a queue from a header',
    check: 'link.header',
    only: ['link'],
    mutate: changesEndpoints({ ignoresHeaders: false }),
  },
  {
    fault: 'stops at an event that it cannot read',
    check: 'link.next',
    also: ['link.listed', 'link.moved', 'link.header'],
    only: ['link'],
    mutate: changesEndpoints({ goesOnAfterUnreadable: false }),
  },
  {
    fault: 'refuses an event that it has seen',
    check: 'link.repeated',
    only: ['link'],
    mutate: changesEndpoints({ acceptsRepeatedLinks: false }),
  },
  {
    fault: 'answers 500 to a link that it cannot read',
    check: 'link.unreadable',
    only: ['link'],
    mutate: changesEndpoints({ unreadableLinkStatus: 500 }),
  },
  {
    fault: 'answers 500 to an unlink that it cannot read',
    check: 'link.unreadable',
    only: ['link'],
    mutate: changesEndpoints({ unreadableUnlinkStatus: 500 }),
  },
  {
    fault: 'does not check the key of links',
    check: 'link.key',
    only: ['link'],
    mutate: changesEndpoints({ checksKeyOf: [] }),
  },
  {
    fault: 'lets links without a key pass',
    check: 'link.key',
    only: ['link'],
    mutate: changesEndpoints({ requiresKey: false }),
  },
  {
    fault: 'leaves a device at its former user',
    check: 'link.moved',
    only: ['link'],
    mutate: changesEndpoints({ movesDevices: false }),
  },
  {
    fault: 'unlinks a device of another user',
    check: 'link.moved',
    only: ['link'],
    mutate: changesEndpoints({ unlinksOwnDevices: false }),
  },
  {
    fault: 'does not check the key of unlinks',
    check: 'link.key',
    only: ['link'],
    mutate: changesEndpoints({ checksKeyOf: ['link'] }),
  },
  {
    fault: 'answers statuses with 404',
    check: 'status.accepted',
    also: ['status.several', 'status.backwards', 'status.unknown'],
    only: ['status'],
    mutate: changesEndpoints({ statusStatus: 404 }),
  },
  {
    fault: 'takes one status in a call',
    check: 'status.several',
    only: ['status'],
    mutate: changesEndpoints({ acceptsArrays: false }),
  },
  {
    fault: 'refuses a call that it has seen',
    check: 'status.repeated',
    only: ['status'],
    mutate: changesEndpoints({ acceptsRepeatedCalls: false }),
  },
  {
    fault: 'refuses a status that is earlier than the last one',
    check: 'status.backwards',
    also: ['status.repeated'],
    only: ['status'],
    mutate: changesEndpoints({ acceptsEarlierStatuses: false }),
  },
  {
    fault: 'refuses statuses of unknown identifiers',
    check: 'status.unknown',
    only: ['status'],
    mutate: changesEndpoints({ acceptsUnknownIdentifiers: false }),
  },
  {
    fault: 'lets a call with an id and a time pass without a signature',
    check: 'status.signature',
    only: ['status'],
    mutate: changesEndpoints({ requiresSignature: false }),
  },
  {
    fault: 'compares only as much of a signature as was sent',
    check: 'status.signature',
    only: ['status'],
    mutate: changesEndpoints({ comparesWholeSignature: false }),
  },
  {
    fault: 'ignores the version of a signature',
    check: 'status.signature',
    only: ['status'],
    mutate: changesEndpoints({ comparesVersion: false }),
  },
  {
    fault: 'does not check signatures',
    check: 'status.signature',
    only: ['status'],
    mutate: changesEndpoints({ checksSignature: false }),
  },
  {
    fault: 'does not compare the time of a signature',
    check: 'status.old',
    only: ['status'],
    mutate: changesEndpoints({ checksAge: false }),
  },
  {
    fault: 'fails at a status that it does not have',
    check: 'status.unreadable',
    only: ['status'],
    mutate: changesEndpoints({ unreadableStatusStatus: 500 }),
  },
  {
    fault: 'has no limit for the size of a call',
    check: 'status.too-large',
    only: ['link', 'status'],
    mutate: changesEndpoints({ mostBytes: Number.POSITIVE_INFINITY }),
  },
]
