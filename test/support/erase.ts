import assert from 'node:assert/strict'
import { type Answer, adminKey, get, post } from './sides.ts'
import { until } from './wait.ts'

/** Requests the erasure of a user of brand 1, and waits for its report. */
export async function erase(url: string, userId: string, brand = '1'): Promise<Answer['body']> {
  const { status, body, text } = await post(`${url}/admin/people/erase`, { brand, user_id: userId }, adminKey.key)
  assert.equal(status, 200, text)
  return reportOf(url, body.id)
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
