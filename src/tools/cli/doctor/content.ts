import { type Check, fails, passes, warns } from '../../../base/runtime/check.ts'
import { clock } from '../../../base/runtime/clock.ts'
import type { OperatorConfig } from '../../../sides/config/table.ts'
import { callOwnSide } from '../call-own-side.ts'

const timeoutMs = 2_000

/** Reports the pointers of title and body, and warns if the running operator delivered messages with neither. */
export async function checkContent(operator: OperatorConfig): Promise<readonly Check[]> {
  const { title, body, required } = operator.content
  const pointers = `the title is at ${title}, the body at ${body}`
  const metrics = await readMetrics(operator)
  if (sumOf(metrics, 'content_unrecognised') > 0)
    return [
      fails(
        `${pointers}; of a brand, no message since the start had either: nobody sees its messages`,
        'correct operator.content.title and operator.content.body: the log names the brand (content.unrecognised)',
      ),
    ]
  const missing = sumOf(metrics, 'without_text_total')
  if (missing > 0)
    return [
      warns(
        `${pointers}; messages delivered with neither since the start: ${missing}`,
        'correct operator.content.title and operator.content.body, or set operator.content.required: true to refuse such messages',
      ),
    ]
  return [passes(`${pointers}; a message with neither is ${required ? 'refused' : 'delivered, with a warning'}`)]
}

/** The metrics of the operator; empty if it does not run. */
async function readMetrics(operator: OperatorConfig): Promise<string> {
  const listening = operator.admin ?? operator
  if (listening.port === 0) return ''
  const request = { method: 'GET', path: '/metrics', deadline: clock.now() + timeoutMs } as const
  return callOwnSide('operator', listening, request).then(
    ({ text }) => text,
    () => '',
  )
}

function sumOf(metrics: string, name: string): number {
  const counts = metrics.matchAll(new RegExp(`^bellwire_${name}\\{.*\\} (\\d+)$`, 'gm'))
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}
