import { LateAnswer, within } from '../runtime/within.ts'
import { StoreUnavailable } from './store-unavailable.ts'

/**
 * Waits for a read. A network that drops all packets gives no error, so a read without an answer counts as an outage.
 *
 * @throws StoreUnavailable after `ms`
 * @example await answerWithin(5_000, findByRef(database, brands, ref))
 */
export async function answerWithin<Answer>(ms: number, read: Promise<Answer>): Promise<Answer> {
  try {
    return await within(ms, read)
  } catch (error) {
    if (!(error instanceof LateAnswer)) throw error
    throw new StoreUnavailable(`the store cannot be reached: ${error.message}`)
  }
}
