import { queueSuite } from '../suites/queue.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'

queueSuite({ engine: 'postgres', skip: await withoutPostgres(), createDatabase: () => freshSchema() })
