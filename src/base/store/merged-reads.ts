import { checkRows } from './check-rows.ts'
import type { Database, Op, Statement, Value } from './database.ts'

/** One statement with the rows of all its callers. */
interface MergedRead {
  readonly statement: Statement
  /** By the value of the route, or by number. */
  readonly rows: Map<Value, readonly Value[]>
  readonly callers: Caller[]
}

interface Caller {
  readonly op: Op
  readonly resolve: (rows: readonly object[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * Gathers the reads of one turn of the event loop. Callers with the same rows share one run of their statement; so do callers with
 * different rows, if the only input column is the route.
 *
 * @param run resolves with the returned rows of each read
 */
export function createMergedReads(
  run: (reads: readonly Op[]) => Promise<readonly (readonly object[])[]>,
): Database['readMerged'] {
  let reads = new Map<string, MergedRead>()

  async function runAll(): Promise<void> {
    const running = [...reads.values()]
    reads = new Map()
    try {
      const returned = await run(running.map(({ statement, rows }) => ({ statement, rows: [...rows.values()] })))
      for (const [i, read] of running.entries()) answer(read, returned[i] ?? [])
    } catch (error) {
      for (const { callers } of running) for (const { reject } of callers) reject(error)
    }
  }

  const readMerged = (op: Op): Promise<readonly object[]> =>
    new Promise((resolve, reject) => {
      checkRows(op)
      if (op.rows.length === 0) return resolve([])
      if (reads.size === 0) setImmediate(runAll)
      const { statement, rows } = op
      const routed = isRouted(statement)
      const id = routed ? statement.name : `${statement.name} ${JSON.stringify(rows)}`
      const read: MergedRead = reads.get(id) ?? { statement, rows: new Map(), callers: [] }
      reads.set(id, read)
      for (const [i, row] of rows.entries()) read.rows.set(routed ? (row[0] as Value) : i, row)
      read.callers.push({ op, resolve, reject })
    })
  return readMerged as Database['readMerged']
}

const isRouted = ({ route, names }: Statement): boolean => route !== undefined && names.length === 1

function answer({ statement, callers }: MergedRead, returned: readonly object[]): void {
  if (!isRouted(statement)) {
    for (const { resolve } of callers) resolve(returned)
    return
  }
  const byRoute = Map.groupBy(returned, (row) => (row as Record<string, Value>)[statement.route as string] as Value)
  for (const { op, resolve } of callers) {
    const own = new Set(op.rows.map(([value]) => value as Value))
    resolve([...own].flatMap((value) => byRoute.get(value) ?? []))
  }
}
