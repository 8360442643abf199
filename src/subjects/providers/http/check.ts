// The checks of an HTTP provider for `bellwire doctor`. They send no message.

import type { Caller } from '../../../base/http-client/caller.ts'
import { type Check, fails, passes } from '../../../base/runtime/check.ts'
import { clock } from '../../../base/runtime/clock.ts'
import { clockCheck } from '../clock-check.ts'
import { messageOf } from '../lost.ts'

const timeoutMs = 5_000

export async function checkSender(name: string, origin: string, caller: Caller): Promise<readonly Check[]> {
  return [...(await checkConnection(name, origin, caller)), ...(await checkToken(name, caller))]
}

async function checkConnection(name: string, origin: string, caller: Caller): Promise<readonly Check[]> {
  // A GET of the root path sends no message. Any answer is good.
  const deadline = clock.now() + timeoutMs
  const answer = await caller.call({ method: 'GET', path: '/', anonymous: true, most: 1024, deadline })
  if ('lost' in answer) {
    const { code = '' } = answer.lost
    const remedy = /CERT|SELF_SIGNED|VERIFY/.test(code)
      ? 'check the certificate, or set ca to the certificate file of the authority that signed it'
      : 'check url, the network and the certificate'
    return [fails(`${name}: ${origin} does not answer: ${messageOf(answer.lost)}`, remedy)]
  }
  const clockReport = clockCheck(origin, answer.headers.date, clock.now())
  return [passes(`${name}: ${origin} answers (${answer.status})`), ...(clockReport ? [clockReport] : [])]
}

async function checkToken(name: string, { auth }: Caller): Promise<readonly Check[]> {
  if (auth.check === undefined) return []
  try {
    await auth.check()
    return [passes(`${name}: the token endpoint accepts the credentials`)]
  } catch (error) {
    const remedy = 'check token_url, client_id, client_secret, scope and credentials under auth'
    return [fails(`${name}: ${(error as Error).message}`, remedy)]
  }
}
