import { join } from 'node:path'
import { queueSuite } from '../suites/queue.ts'
import { temporary } from '../support/sides.ts'

queueSuite({
  engine: 'sqlite',
  skip: false,
  createDatabase: async (t) => `sqlite:${join(await temporary(t), 'queue.db')}`,
})
