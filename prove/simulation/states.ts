// The states that matter: a run that never reaches them proves nothing. Counted from the events of the engine, and from the faults.

import { type EventName, type Events, on } from '../../src/base/runtime/events.ts'
import { faultNames } from './settings.ts'

/** Each must be reached in a full run. */
export const demandedEvents = [
  'lane.owned',
  'lane.held',
  'lane.released',
  'batch.sent',
  'item.settled',
  'item.retry',
  'call.done',
  'answer.warning',
  'message.received',
  'message.claimed',
  'message.repeated',
  'message.taken_over',
  'message.calling',
  'message.settled',
  'budget.spent',
  'provider.paused',
  'provider.resumed',
  'provider.threw',
  'loop.failed',
  'store.commit',
] as const satisfies readonly EventName[]

const details: { [Name in EventName]?: (event: Events[Name]) => string | undefined } = {
  'item.settled': ({ category, untracked, rule }) =>
    untracked ? 'untracked' : rule.includes('expired') ? 'expired' : category,
  'message.taken_over': ({ uncertain }) => (uncertain ? 'uncertain' : undefined),
  'message.settled': ({ category, uncertain }) => (uncertain ? 'uncertain' : category),
}

export const demandedStates: readonly string[] = [
  ...demandedEvents,
  ...['successful', 'failed', 'untracked', 'expired'].map((detail) => `item.settled ${detail}`),
  'message.taken_over uncertain',
  ...['successful', 'failed', 'fatal', 'uncertain'].map((detail) => `message.settled ${detail}`),
  ...faultNames.map((name) => `fault: ${name}`),
]

export function watchStates() {
  const reached = new Map<string, number>()
  const reach = (state: string): void => void reached.set(state, (reached.get(state) ?? 0) + 1)
  const unlisten = demandedEvents.map((name: EventName) =>
    on(name, (event) => {
      reach(name)
      const detail = (details[name] as ((event: unknown) => string | undefined) | undefined)?.(event)
      if (detail !== undefined) reach(`${name} ${detail}`)
    }),
  )
  return {
    reached,
    reach,
    on,
    end: () => {
      for (const end of unlisten) end()
    },
  }
}
