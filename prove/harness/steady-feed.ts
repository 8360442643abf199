// Messages of one lane at a steady rate, and how long each of them takes to the provider's call.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { enqueue } from './http.ts'

export interface Feed {
  readonly platform: string
  /** When each message was enqueued, by its number. */
  readonly sentAt: readonly number[]
  stop(): Promise<void>
}

interface FeedRate {
  readonly perSecond: number
  readonly requestsPerSecond: number
}

/** Enqueues messages at a steady rate, whether or not the platform keeps up. */
export function startFeed(platform: string, { perSecond, requestsPerSecond }: FeedRate, signal: AbortSignal): Feed {
  const sentAt: number[] = []
  let stopped = false
  const pending = new Set<Promise<unknown>>()
  const feeding = (async () => {
    const began = performance.now()
    for (let request = 1; !stopped; request++) {
      signal.throwIfAborted()
      const lines = Array.from({ length: perSecond / requestsPerSecond }, () =>
        numberedRecord(sentAt.push(Date.now()) - 1),
      )
      const sending = enqueue(platform, 'push', lines.join('')).finally(() => pending.delete(sending))
      pending.add(sending)
      await sleep(Math.max(0, began + (request * 1_000) / requestsPerSecond - performance.now()))
    }
    await Promise.all(pending)
  })()
  feeding.catch(() => {})
  return {
    platform,
    sentAt,
    stop() {
      stopped = true
      return feeding
    },
  }
}

/** A record of brand 1. */
export function numberedRecord(n: number): string {
  const activity = `{"id":${n},"brand_id":1,"user_id":"${n % 1_000}","activity_id":7,"action_id":9,"trigger_hash":"h"}`
  return `{"activity":${activity},"title":"Record ${n}"}\n`
}

/**
 * @param witness the file of processes/lane-platform.ts
 * @returns when each message arrived, by its number. Fails unless each arrived once.
 */
export function readArrivals(witness: string, sent: number): readonly number[] {
  const arrivals: number[] = []
  for (const line of readFileSync(witness, 'utf8').trimEnd().split('\n')) {
    const [message = '', , at] = line.split(' ')
    const n = Number(message.split('/')[1])
    assert.equal(arrivals[n], undefined, `message ${n} was sent twice`)
    arrivals[n] = Number(at)
  }
  assert.equal(Object.keys(arrivals).length, sent, 'messages that arrived')
  return arrivals
}

export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
