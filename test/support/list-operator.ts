// An operator of another vendor that only answers POST /reconciliation, correctly or with a fault.

import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { clock } from '../../src/base/runtime/clock.ts'
import { listenLocally } from './listen-locally.ts'

export interface ListRequest {
  readonly field: string
  readonly key: string | undefined
  readonly path: string
}

export type AnswerList = (response: ServerResponse, request: ListRequest) => void | Promise<void>

export interface ListOperator {
  readonly url: string
  readonly asked: readonly ListRequest[]
}

export async function startListOperator(t: TestContext, answer: AnswerList): Promise<ListOperator> {
  const asked: ListRequest[] = []
  const server = createServer(async (request, response) => {
    const { field } = JSON.parse(await text(request)) as { field: string }
    const received = { field, key: request.headers['x-api-key'] as string | undefined, path: request.url as string }
    asked.push(received)
    try {
      await answer(response, received)
    } catch {
      response.destroy()
    }
  })
  const { url } = await listenLocally(t, server)
  return { url, asked }
}

/** Returns the answer of §2.5. The timestamp is now by default. */
export function listOf(users: readonly string[], at: Date | string = new Date(clock.now())): string {
  return JSON.stringify({ users, timestamp: typeof at === 'string' ? at : at.toISOString() })
}
