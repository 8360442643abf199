import assert from 'node:assert/strict'
import { on } from '../../src/base/runtime/events.ts'
import { type Answer, adminKey, get, post } from './sides.ts'
import { until } from './wait.ts'

/**
 * Requests the erasure of a user at a side of this process, and waits for its report. On PostgreSQL it takes 6 s, in which requests
 * for the report would take more processor time than the erasure.
 */
export async function erase(url: string, userId: string, brand = '1'): Promise<Answer['body']> {
  const erased = new Set<string>()
  const off = on('person.erased', ({ erasure }) => void erased.add(erasure))
  try {
    const { status, body, text } = await post(`${url}/admin/people/erase`, { brand, user_id: userId }, adminKey.key)
    assert.equal(status, 200, text)
    await until(() => erased.has(body.id), { awaited: 'the erasure is done', withinMs: 60_000 })
    return await reportOf(url, body.id)
  } finally {
    off()
  }
}

/** Waits for the end of an erasure. */
export const reportOf = (url: string, id: string): Promise<Answer['body']> =>
  until(
    async () => {
      const { body: erasure } = await get(`${url}/admin/people/erasures/${id}`)
      return erasure.state === 'done' && erasure
    },
    { awaited: 'the erasure is done', withinMs: 60_000 },
  )
