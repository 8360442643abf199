// What `bellwire doctor` can see of a provider without sending anything to anybody.

import { Pool } from 'undici'
import { clockCheck } from '../clock-check.ts'
import type { Check } from '../provider.ts'
import type { Auth } from './auth.ts'

const patienceMs = 5_000

export interface CheckSender {
  readonly name: string
  readonly origin: string
  readonly auth: Auth
  readonly ca?: string
}

export async function checkSender({ name, origin, auth, ca }: CheckSender): Promise<readonly Check[]> {
  return [...(await reach(name, origin, ca)), ...(await token(name, auth))]
}

async function reach(name: string, origin: string, ca: string | undefined): Promise<readonly Check[]> {
  const pool = new Pool(origin, { connections: 1, ...(ca !== undefined && { connect: { ca } }) })
  try {
    // Its root: what is there does not matter, and no message comes of it.
    const signal = AbortSignal.timeout(patienceMs)
    const { statusCode, headers, body } = await pool.request({ method: 'GET', path: '/', signal })
    body.on('error', () => {}).destroy()
    const what = `${name}: ${origin} answers (${statusCode})`
    const clock = clockCheck(origin, headers.date, Date.now())
    return [{ ok: true, what }, ...(clock ? [clock] : [])]
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string }
    const why = message.includes(code) ? message : `${code} ${message}`.trim()
    const remedy = /CERT|SELF_SIGNED|VERIFY/.test(code)
      ? 'check the certificate, or set ca to the file of its authority'
      : 'check the address, the network and the certificate'
    return [{ ok: false, what: `${name}: ${origin} does not answer: ${why}`, remedy }]
  } finally {
    await pool.destroy()
  }
}

async function token(name: string, auth: Auth): Promise<readonly Check[]> {
  if (auth.check === undefined) return []
  try {
    await auth.check()
    return [{ ok: true, what: `${name}: the token endpoint accepts the credentials` }]
  } catch (error) {
    const remedy = 'check token_url, client_id, client_secret, scope and credentials of auth'
    return [{ ok: false, what: `${name}: ${(error as Error).message}`, remedy }]
  }
}
