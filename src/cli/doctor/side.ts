import type { Check } from '../../providers/provider.ts'

const patienceMs = 2_000

/** Does this side run here, and is it ready? That it does not run is no problem: it may be about to be started. */
export async function lookAtSide(
  side: 'operator' | 'platform',
  { host, port }: { readonly host: string; readonly port: number },
  setting: string,
): Promise<readonly Check[]> {
  if (port === 0) return []
  const address = addressOf(host, port)
  const remedy = `set ${setting} to a free port, or stop the program that listens there`
  let response: Response
  try {
    response = await fetch(`http://${address}/readyz`, { signal: AbortSignal.timeout(patienceMs) })
  } catch (error) {
    const refused = (error as { cause?: { code?: string } }).cause?.code === 'ECONNREFUSED'
    return refused
      ? [{ ok: true, what: `nothing listens on ${address} yet: bellwire ${side} starts it` }]
      : [{ ok: false, what: `something on ${address} does not answer as HTTP`, remedy }]
  }
  const said = await response.text().catch(() => '')
  if (response.status === 200 && said.includes('"ok":true'))
    return [{ ok: true, what: `it runs on ${address} and is ready` }]
  if (response.status === 503)
    return [{ ok: false, what: `it runs on ${address} and is not ready: ${said}`, remedy: 'see its log' }]
  return [{ ok: false, what: `something else listens on ${address} (${response.status})`, remedy }]
}

/** How a side that listens there is asked from this machine. */
export function addressOf(host: string, port: number): string {
  const asked = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return asked.includes(':') ? `[${asked}]:${port}` : `${asked}:${port}`
}
