// The operator of brand 3, whose statuses the platform polls. It answers as if it wanted to keep the platform busy.

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenAt } from '../../../src/base/runtime/local-server.ts'
import { statusPageJson } from '../../../src/contract/status-page.ts'
import type { Attack } from './attacks.ts'
import { countOtherLines, waitUntil } from './observe.ts'

type Conduct = 'nothing new' | 'another cursor each time' | 'unknown identifiers without end'

export interface HostileOperator {
  readonly url: string
  conduct: Conduct
  /** The polls so far. */
  readonly polls: number
}

/** Well above what the platform may ask in the time of an attack, and far below what a loop without a pause asks. */
const mostRestarts = 30
const mostLines = 20

export async function startHostileOperator(signal: AbortSignal): Promise<HostileOperator> {
  let polls = 0
  const server = createServer((_request: IncomingMessage, response: ServerResponse) => {
    polls++
    if (operator.conduct === 'another cursor each time') {
      response.writeHead(410).end(JSON.stringify({ error: 'forgotten', restart: `restart-${polls}` }))
    } else {
      const records =
        operator.conduct === 'nothing new' ? [] : Array.from({ length: 1_000 }, (_, i) => record(polls, i))
      response.end(statusPageJson(records, `page-${polls}`))
    }
  })
  const url = await listenAt(server)
  server.unref()
  signal.addEventListener('abort', () => server.closeAllConnections())
  const operator = {
    url,
    conduct: 'nothing new' as Conduct,
    get polls() {
      return polls
    },
  }
  return operator
}

/** A status of a message that was never sent; each tenth record has no readable status. */
function record(page: number, i: number): string {
  const status = i % 10 === 0 ? 'nonsense' : 'delivered'
  const meta = { activity: { id: i, brand_id: 3, user_id: 'nobody' } }
  return JSON.stringify({ push_id: `unknown-${page}-${i}`, status, timestamp: new Date().toISOString(), meta })
}

export const restarts: Attack = {
  name: 'S8 an operator that forgets each cursor',
  expected: 'the platform waits longer after each answer 410',
  mounted: 'always',
  async run({ hostile, small }) {
    hostile.conduct = 'another cursor each time'
    const before = hostile.polls
    try {
      await new Promise((resolve) => setTimeout(resolve, small ? 1_000 : 5_000))
    } finally {
      hostile.conduct = 'nothing new'
    }
    assert.ok(hostile.polls - before <= mostRestarts, `${hostile.polls - before} polls`)
  },
}

export const unknownStatuses: Attack = {
  name: 'S8 statuses of unknown messages without end',
  expected: 'at most 100,000 wait for their message, then the platform pauses its polls; few log lines',
  mounted: 'full',
  async run({ hostile, platform, small }, signal) {
    const before = countOtherLines(platform)
    hostile.conduct = 'unknown identifiers without end'
    try {
      const from = hostile.polls
      if (small) await waitUntil('the platform stopped its polls', signal, async () => hostile.polls > from + 3)
      else {
        const isFull = async (): Promise<boolean> => platform.lines().some(({ event }) => event === 'statuses.full')
        await waitUntil('the platform has no limit of unknown statuses', signal, isFull, 180_000)
        const full = hostile.polls
        await new Promise((resolve) => setTimeout(resolve, 5_000))
        assert.ok(hostile.polls - full <= 1, `${hostile.polls - full} polls in 5 s after the limit`)
      }
    } finally {
      hostile.conduct = 'nothing new'
    }
    const lines = countOtherLines(platform) - before
    assert.ok(lines <= mostLines, `${lines} log lines`)
  },
}
