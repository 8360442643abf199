// The check of an operator for `bellwire doctor`: sends an empty batch instead of a message.

import type { Caller } from '../../base/http-client/caller.ts'
import { type Check, fails, passes } from '../../base/runtime/check.ts'
import { clock } from '../../base/runtime/clock.ts'
import { objectIn } from '../../base/runtime/json.ts'
import { describeStatus } from '../../contract/describe-status.ts'
import { shortened } from '../../contract/storable.ts'
import { clockCheck } from './clock-check.ts'
import { messageOf } from './lost.ts'

const timeoutMs = 5_000
const mostBytes = 64 * 1024
const categories = ['successful', 'failed', 'fatal'] as const

/**
 * Checks that the operator answers and accepts the key. An empty batch must be answered with empty arrays (§2.4).
 *
 * @param endpoint the path of the batch endpoint, under the path of the address
 */
export async function checkOperator(
  operator: Caller,
  url: string,
  endpoint: string,
  mode: 'single' | 'batch',
): Promise<readonly Check[]> {
  const { origin, pathname } = new URL(url)
  const path = pathname.replace(/\/+$/, '') + endpoint
  const answer = await operator.call({ path: endpoint, body: '[]', most: mostBytes, deadline: clock.now() + timeoutMs })
  if ('lost' in answer)
    return [
      fails(
        `${origin} does not answer: ${messageOf(answer.lost)}`,
        'check url, the network and the certificate, and that the operator is running',
      ),
    ]
  const { status, body, headers } = answer
  const described = describeStatus(status, headers.location)
  const clockReport = clockCheck(origin, headers.date, clock.now())
  return [judge(origin, path, mode, status, described, body.toString()), ...(clockReport ? [clockReport] : [])]
}

function judge(
  origin: string,
  path: string,
  mode: 'single' | 'batch',
  status: number,
  described: string,
  text: string,
): Check {
  if (status === 200 && isEmptyAnswer(text)) return passes(`${origin} answers and accepts the key`)
  if (status === 401 || status === 403)
    return fails(
      `${origin} refuses the key (${status})`,
      'set api_key to the token that the operator issued for this address and brand',
    )
  // An operator that accepts single messages need not have a batch endpoint.
  if (mode === 'single' && status >= 400 && status < 500)
    return passes(`${origin} answers (${status}); without a batch endpoint the key cannot be checked`)
  const answered = `${origin} answers an empty batch with ${described}: ${shortened(text, 200)}`
  if (status === 404 || status === 405)
    return fails(answered, `check the path of url: the operator must serve POST ${path}`)
  return fails(answered, 'report it to the operator: the answer to an empty batch must be 200 with empty arrays')
}

function isEmptyAnswer(text: string): boolean {
  const read = objectIn(text)
  const lists = categories.map((category) => read?.[category]).filter((value) => value !== undefined)
  return lists.length > 0 && lists.every((value) => Array.isArray(value) && value.length === 0)
}
