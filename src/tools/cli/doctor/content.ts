import { type Check, fails, passes, warns } from '../../../base/runtime/check.ts'
import type { OperatorConfig } from '../../../sides/config/table.ts'
import { readMetrics } from './running-metrics.ts'

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

function sumOf(metrics: string, name: string): number {
  const counts = metrics.matchAll(new RegExp(`^bellwire_${name}\\{.*\\} (\\d+)$`, 'gm'))
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}
