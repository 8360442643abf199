import { devicesSuite } from '../suites/devices.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'

devicesSuite({ engine: 'postgres', skip: await withoutPostgres(), fresh: () => freshSchema() })
