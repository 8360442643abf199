// The real operator with a database of users. argv: the users' database, the operator's own store.

import { readFileSync } from 'node:fs'
import { sqlSource } from '../../src/attributes/sql.ts'
import { listen } from '../../src/http/http.ts'
import { chain } from '../../src/http/mount.ts'
import { createOperator } from '../../src/operator/create-operator.ts'
import { benchKey } from '../harness/bench-key.ts'
import { handleCalls } from '../harness/handle-calls.ts'
import { blocked } from '../harness/players.ts'

const [database = '', store = ''] = process.argv.slice(2)
const operator = createOperator({
  store,
  keys: [{ name: 'bench', key: benchKey, brands: ['1'] }],
  attributes: sqlSource({ database, queries: { blocked } }),
  reconciliation: { streams: 1 },
})
await operator.start()
const { url } = await listen('operator', chain(operator.handler, operator.admin.handler))

// The child processes that read SQLite end with their list, so their memory is polled.
let mostOfChildren = 0
setInterval(() => {
  mostOfChildren = Math.max(mostOfChildren, ...children().map(peakKb))
}, 20).unref()

handleCalls({
  port: () => Number(new URL(url).port),
  /** The peak memory of this process plus that of its largest child, in MB. */
  peakMb: () => Math.round((process.resourceUsage().maxRSS + mostOfChildren) / 1024),
})

function children(): string[] {
  return read(`/proc/self/task/${process.pid}/children`).split(' ').filter(Boolean)
}

function peakKb(pid: string): number {
  return Number(/VmHWM:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // not Linux, or the process has ended
  }
}
