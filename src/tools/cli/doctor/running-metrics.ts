import { clock } from '../../../base/runtime/clock.ts'
import type { OperatorConfig } from '../../../sides/config/table.ts'
import { callOwnSide } from '../call-own-side.ts'

const timeoutMs = 2_000

/** The metrics of the running operator; empty if it does not run. */
export async function readMetrics(operator: OperatorConfig): Promise<string> {
  const listening = operator.admin ?? operator
  if (listening.port === 0) return ''
  const request = { method: 'GET', path: '/metrics', deadline: clock.now() + timeoutMs } as const
  return callOwnSide('operator', listening, request).then(
    ({ text }) => text,
    () => '',
  )
}
