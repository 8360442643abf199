import { compare } from '../runtime/compare.ts'
import type { Op, Statement, Value } from './database.ts'

/** A part of a transaction: one statement with the rows of one or several ops. */
export interface Part extends Op {
  /** The ops whose rows were merged, in order. */
  readonly ops: readonly Op[]
  /** The op of each value of the route column; absent for a single op. */
  readonly routes?: ReadonlyMap<Value, Op>
}

interface MutablePart extends Part {
  rows: readonly (readonly Value[])[]
  ops: Op[]
  routes?: Map<Value, Op>
}

/**
 * Merges the rows of ops with the same statement, and orders the statements (order.ts). An op stays a separate part if its
 * returned rows could not be assigned to it: another op has the same route value, or the statement has no route.
 */
export function mergeOps(ops: readonly Op[]): readonly Part[] {
  const parts = new Map<Statement, MutablePart[]>()
  for (const op of ops) {
    if (op.rows.length === 0) continue
    const same = parts.get(op.statement)
    if (!same) parts.set(op.statement, [createPart(op)])
    else if (!addToPart(same.at(-1) as MutablePart, op)) same.push(createPart(op))
  }
  return [...parts.values()]
    .flat()
    .sort((a, b) => a.statement.place - b.statement.place || compare(a.statement.name, b.statement.name))
}

const createPart = (op: Op): MutablePart => ({ statement: op.statement, rows: op.rows, ops: [op] })

function addToPart(part: MutablePart, op: Op): boolean {
  const { route, returns, names } = op.statement
  if (route === undefined && returns) return false
  // Without input columns all rows are equal, so one run of the statement serves all ops.
  if (names.length === 0) return part.ops.push(op) > 0
  if (route !== undefined && !addRoutes(part, op, names.indexOf(route))) return false
  part.rows = part.ops.length === 1 ? [...part.rows] : part.rows
  const rows = part.rows as (readonly Value[])[]
  for (const row of op.rows) rows.push(row)
  part.ops.push(op)
  return true
}

function addRoutes(part: MutablePart, op: Op, column: number): boolean {
  const routes = part.routes ?? new Map<Value, Op>()
  if (!part.routes) for (const first of part.ops) for (const row of first.rows) routes.set(row[column] as Value, first)
  part.routes = routes
  if (op.rows.some((row) => routes.has(row[column] as Value))) return false
  for (const row of op.rows) routes.set(row[column] as Value, op)
  return true
}

/** Assigns the rows that the parts returned to their ops. */
export function distributeRows(
  parts: readonly Part[],
  returned: readonly (readonly object[])[],
): ReadonlyMap<Op, readonly object[]> {
  const results = new Map<Op, object[]>()
  for (const [i, { statement, ops, routes }] of parts.entries()) {
    const rows = returned[i] ?? []
    if (statement.complete) for (const op of ops) results.set(op, rows as object[])
    else if (!statement.returns) continue
    else if (ops.length === 1) results.set(ops[0] as Op, rows as object[])
    else if (routes) {
      for (const row of rows) {
        const op = routes.get((row as Record<string, Value>)[statement.route as string] as Value)
        if (!op)
          throw new Error(`Statement ${statement.name} returned a ${statement.route} that is not in its input rows`)
        const rowsOfOp = results.get(op)
        if (rowsOfOp) rowsOfOp.push(row)
        else results.set(op, [row])
      }
    }
  }
  return results
}
