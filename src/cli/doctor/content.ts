import type { OperatorConfig } from '../../config/table.ts'
import type { Check } from '../../providers/provider.ts'
import { addressOf } from './side.ts'

const patienceMs = 2_000

/** Where title and body are looked for, and whether the operator that runs here found neither in some messages. */
export async function lookAtContent({ host, port, content }: OperatorConfig): Promise<readonly Check[]> {
  const { title, body, required } = content
  const stands = `the title stands at ${title}, the body at ${body}`
  const missing = port === 0 ? 0 : await countWithoutText(addressOf(host, port))
  if (missing > 0)
    return [
      {
        ok: true,
        warning: true,
        what: `${stands}; messages delivered with neither since it started: ${missing}`,
        remedy:
          'correct operator.content.title and operator.content.body; operator.content.required: true refuses such messages',
      },
    ]
  return [
    { ok: true, what: `${stands}; a message with neither is ${required ? 'refused' : 'delivered, with a warning'}` },
  ]
}

/** 0 also where nothing runs there. */
async function countWithoutText(address: string): Promise<number> {
  try {
    const response = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(patienceMs) })
    const counts = (await response.text()).matchAll(/^bellwire_without_text_total\{.*\} (\d+)$/gm)
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
  } catch {
    return 0
  }
}
