// A side that is mounted in a server of node:http, with the options of a configuration file: mounted-side.ts SIDE --config FILE.

import { createServer } from 'node:http'
import { chain } from '../../src/base/http/mount.ts'
import { emit } from '../../src/base/runtime/events.ts'
import { originOf } from '../../src/base/runtime/local-server.ts'
import { startLog } from '../../src/base/runtime/log.ts'
import { readOperatorOptions, readPlatformOptions } from '../../src/sides/config/read-options.ts'
import { createOperator } from '../../src/sides/operator/create-operator.ts'
import { createPlatform } from '../../src/sides/platform/create-platform.ts'

const [name, , file] = process.argv.slice(2) as ['operator' | 'platform', string, string]
startLog({ level: 'info', format: 'json' })
const side =
  name === 'operator'
    ? createOperator(await readOperatorOptions(file))
    : createPlatform(await readPlatformOptions(file))
await side.start()
// Longer than any pause between two requests of a client of the proof.
const server = createServer({ keepAliveTimeout: 72_000 }, chain(side.handler, side.admin.handler))
server.listen(0, '127.0.0.1', () => emit('server.listening', { side: name, url: originOf(server) }))
