import { join } from 'node:path'
import { devicesSuite } from '../suites/devices.ts'
import { temporary } from '../support/sides.ts'

devicesSuite({ engine: 'sqlite', skip: false, fresh: async (t) => `sqlite:${join(await temporary(t), 'devices.db')}` })
