import type { OperatorConfig } from '../../config/table.ts'
import type { Check } from '../../runtime/check.ts'
import { addressOf } from './side.ts'

const timeoutMs = 2_000

/** Reports the pointers of title and body, and warns if the running operator delivered messages with neither. */
export async function checkContent({ host, port, content }: OperatorConfig): Promise<readonly Check[]> {
  const { title, body, required } = content
  const pointers = `the title is at ${title}, the body at ${body}`
  const missing = port === 0 ? 0 : await countWithoutText(addressOf(host, port))
  if (missing > 0)
    return [
      {
        ok: true,
        warning: true,
        description: `${pointers}; messages delivered with neither since the start: ${missing}`,
        remedy:
          'correct operator.content.title and operator.content.body, or set operator.content.required: true to refuse such messages',
      },
    ]
  return [
    {
      ok: true,
      description: `${pointers}; a message with neither is ${required ? 'refused' : 'delivered, with a warning'}`,
    },
  ]
}

/** The count from the operator's metrics; 0 if no operator runs at this address. */
async function countWithoutText(address: string): Promise<number> {
  try {
    const response = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(timeoutMs) })
    const counts = (await response.text()).matchAll(/^bellwire_without_text_total\{.*\} (\d+)$/gm)
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
  } catch {
    return 0
  }
}
