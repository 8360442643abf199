import { type Check, fails, passes, warns } from '../../../base/runtime/check.ts'

const timeoutMs = 2_000

/** Checks whether this side runs here and is ready. A side that does not run is no problem: it may be started later. */
export async function checkSide(
  side: 'operator' | 'platform',
  { host, port }: { readonly host: string; readonly port: number },
  setting: string,
): Promise<readonly Check[]> {
  if (port === 0) return []
  const address = addressOf(host, port)
  const remedy = `set ${setting} to a free port, or stop the program that listens there`
  let response: Response
  try {
    response = await fetch(`http://${address}/readyz`, { signal: AbortSignal.timeout(timeoutMs) })
  } catch (error) {
    const refused = (error as { cause?: { code?: string } }).cause?.code === 'ECONNREFUSED'
    return refused
      ? [passes(`not running on ${address}; start it with: bellwire ${side}`)]
      : [fails(`a program on ${address} does not answer HTTP requests`, remedy)]
  }
  const body = await response.text().catch(() => '')
  if (response.status === 200 && body.includes('"ok":true'))
    return [passes(`running on ${address}, ready`), ...warnOfConsumers(body)]
  if (response.status === 503) return [fails(`running on ${address}, not ready: ${body}`, 'see its log')]
  return [fails(`another program listens on ${address} (status ${response.status})`, remedy)]
}

/** Queues and topics that the running process does not consume now. */
function warnOfConsumers(readyz: string): Check[] {
  const { consumers = {} } = JSON.parse(readyz) as { consumers?: Record<string, string> }
  return Object.entries(consumers)
    .filter(([, state]) => state !== 'consuming')
    .map(([name, state]) =>
      warns(
        `the running process does not consume ${name}: ${state}`,
        'GET /admin/consumers has the last error; consuming resumes automatically',
      ),
    )
}

/** The address at which this machine reaches a side that listens on host and port. */
export function addressOf(host: string, port: number): string {
  const target = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return target.includes(':') ? `[${target}]:${port}` : `${target}:${port}`
}
