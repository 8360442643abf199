// The checks of an HTTP provider for `bellwire doctor`. They send no message.

import type { Check } from '../../runtime/check.ts'
import { clock } from '../../runtime/clock.ts'
import { openPool } from '../../runtime/http1.ts'
import { clockCheck } from '../clock-check.ts'
import type { Auth } from './auth.ts'

const timeoutMs = 5_000

export interface CheckSender {
  readonly name: string
  readonly origin: string
  readonly auth: Auth
  readonly ca?: string
}

export async function checkSender({ name, origin, auth, ca }: CheckSender): Promise<readonly Check[]> {
  return [...(await checkConnection(name, origin, ca)), ...(await checkToken(name, auth))]
}

async function checkConnection(name: string, origin: string, ca: string | undefined): Promise<readonly Check[]> {
  const pool = openPool(origin, { connections: 1, ...(ca !== undefined && { connect: { ca } }) })
  try {
    // A GET of the root path sends no message. Any answer is good.
    const signal = clock.timeout(timeoutMs)
    const { statusCode, headers, body } = await pool.request({ method: 'GET', path: '/', signal })
    body.on('error', () => {}).destroy()
    const description = `${name}: ${origin} answers (${statusCode})`
    const clockReport = clockCheck(origin, headers.date, clock.now())
    return [{ ok: true, description }, ...(clockReport ? [clockReport] : [])]
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string }
    const problem = message.includes(code) ? message : `${code} ${message}`.trim()
    const remedy = /CERT|SELF_SIGNED|VERIFY/.test(code)
      ? 'check the certificate, or set ca to the certificate file of the authority that signed it'
      : 'check url, the network and the certificate'
    return [{ ok: false, description: `${name}: ${origin} does not answer: ${problem}`, remedy }]
  } finally {
    await pool.destroy()
  }
}

async function checkToken(name: string, auth: Auth): Promise<readonly Check[]> {
  if (auth.check === undefined) return []
  try {
    await auth.check()
    return [{ ok: true, description: `${name}: the token endpoint accepts the credentials` }]
  } catch (error) {
    const remedy = 'check token_url, client_id, client_secret, scope and credentials under auth'
    return [{ ok: false, description: `${name}: ${(error as Error).message}`, remedy }]
  }
}
