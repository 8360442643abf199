import type { OperatorConfig } from '../../../sides/config/table.ts'
import { callOwnSide, NotAnswered, type OwnAnswer } from '../call-own-side.ts'
import { CliError, exit } from '../exit.ts'

/** Calls the operator of the configuration. @throws CliError if it was not reached */
export async function callOperator(
  operator: OperatorConfig,
  request: Parameters<typeof callOwnSide>[2],
): Promise<OwnAnswer> {
  try {
    return await callOwnSide('operator', operator, request)
  } catch (error) {
    if (!(error instanceof NotAnswered)) throw error
    const remedy = error.isRefused ? '; start it with: bellwire operator' : ''
    throw new CliError(exit.unreachable, `the operator at ${error.url} was not reached: ${error.message}${remedy}`)
  }
}
