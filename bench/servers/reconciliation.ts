// The real operator with a database of users. argv: the users' database, the operator's own store.

import { listen } from '../../src/base/http/http.ts'
import { chain } from '../../src/base/http/mount.ts'
import { createOperator } from '../../src/sides/operator/create-operator.ts'
import { sqlSource } from '../../src/subjects/attributes/sql.ts'
import { benchKey } from '../harness/bench-key.ts'
import { handleCalls } from '../harness/handle-calls.ts'
import { blocked } from '../harness/players.ts'

const [database = '', store = ''] = process.argv.slice(2)
const operator = createOperator({
  store,
  keys: [{ name: 'bench', key: benchKey, brands: ['1'] }],
  attributes: sqlSource({ database, queries: { blocked } }),
  testing: { reconciliation: { streams: 1 } },
})
await operator.start()
const { url } = await listen('operator', chain(operator.handler, operator.admin.handler))

handleCalls({ port: () => Number(new URL(url).port) })
