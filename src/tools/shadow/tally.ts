// Counts differences in groups, each with its first example. The number of groups is bounded.

import { ruleOf } from './rules.ts'

/** What was seen of one message or request. */
export interface Seen {
  /** Epoch milliseconds. */
  readonly at: number
  /** 'push/batch' */
  readonly endpoint: string
  /** The source text of activity.id. */
  readonly id?: string
  readonly operator: string
  readonly bellwire: string
}

/** One rule at one endpoint. */
export interface Difference {
  readonly rule: string
  readonly section: string
  /** The row of docs/open-points.md. */
  readonly row?: number
  readonly title: string
  readonly endpoint: string
  count: number
  /** The first one. */
  readonly example: Omit<Seen, 'at' | 'endpoint'> & { readonly at: string }
}

/** Requests or messages that say nothing about the rules. */
export interface LeftOut {
  readonly reason: string
  count: number
  /** The first one. */
  readonly example: string
}

export interface ShadowReport {
  readonly requests: number
  readonly messages: number
  readonly differences: readonly Difference[]
  readonly left_out: readonly LeftOut[]
}

export interface Tally {
  countRequest(): void
  countMessages(count: number): void
  /** @param rule an id of rules.ts */
  add(rule: string, seen: Seen): void
  leaveOut(reason: string, example: string): void
  report(): ShadowReport
}

export function createTally(): Tally {
  const differences = new Map<string, Difference>()
  const leftOut = new Map<string, LeftOut>()
  let requests = 0
  let messages = 0
  return {
    countRequest() {
      requests++
    },
    countMessages(count) {
      messages += count
    },
    add(rule, { at, endpoint, ...seen }) {
      const name = `${rule} ${endpoint}`
      const known = differences.get(name)
      if (known) known.count++
      else {
        const { id: _, ...text } = ruleOf(rule)
        const example = { at: new Date(at).toISOString(), ...seen }
        differences.set(name, { rule, ...text, endpoint, count: 1, example })
      }
    },
    leaveOut(reason, example) {
      const known = leftOut.get(reason)
      if (known) known.count++
      else leftOut.set(reason, { reason, count: 1, example })
    },
    report: () => ({
      requests,
      messages,
      differences: [...differences.values()].toSorted((a, b) => b.count - a.count),
      left_out: [...leftOut.values()].toSorted((a, b) => b.count - a.count),
    }),
  }
}
