import { type Check, fails, passes, warns } from '../../../base/runtime/check.ts'
import { clock } from '../../../base/runtime/clock.ts'
import type { SideName } from '../../../sides/admin/calls.ts'
import { callOwnSide, NotAnswered, type OwnAnswer } from '../call-own-side.ts'

const timeoutMs = 2_000

/** Checks whether this side runs here and is ready. A side that does not run is no problem: it may be started later. */
export async function checkSide(
  side: SideName,
  listening: Parameters<typeof callOwnSide>[1],
  setting: string,
): Promise<readonly Check[]> {
  if (listening.port === 0) return []
  const remedy = `set ${setting} to a free port, or stop the program that listens there`
  let answer: OwnAnswer
  try {
    const deadline = clock.now() + timeoutMs
    answer = await callOwnSide(side, listening, { method: 'GET', path: '/readyz', deadline })
  } catch (error) {
    if (!(error instanceof NotAnswered)) throw error
    const { host: address, protocol } = new URL(error.url)
    if (error.isRefused) return [passes(`not running on ${address}; start it with: bellwire ${side}`)]
    return [
      fails(
        `a program on ${address} does not answer ${protocol === 'https:' ? 'HTTPS' : 'HTTP'} requests: ${error.message}`,
        error.isOfCertificate ? `replace the files of ${side}.tls, and reload the configuration` : remedy,
      ),
    ]
  }
  const { status, text, address } = answer
  if (status === 200 && text.includes('"ok":true'))
    return [passes(`running on ${address}, ready`), ...warnOfConsumers(text)]
  if (status === 503) return [fails(`running on ${address}, not ready: ${text}`, 'see its log')]
  return [fails(`another program listens on ${address} (status ${status})`, remedy)]
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
