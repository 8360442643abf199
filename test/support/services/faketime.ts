// libfaketime: a program that runs with it has a clock that the test sets. The address of the service is the path of the library.

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { installing, unpack } from './apt.ts'
import { cached } from './cache.ts'
import { isDebian } from './program.ts'
import type { Service } from './service.ts'

export const faketimeService: Service<object> = {
  name: 'libfaketime',
  variable: 'BELLWIRE_TEST_FAKETIME',
  proves: 'both sides while the clock of the machine is set',
  command: `sudo sh -c '${installing('libfaketime')}'`,
  async start() {
    if (!isDebian()) throw new Error('the library is unpacked from a Debian package')
    const root = await cached('faketime', (folder) => unpack('libfaketime', /^libfaketime$/, folder))
    const [address] = globSync(join(root, 'usr/lib/*/faketime/libfaketime.so.1'))
    if (address === undefined) throw new Error('libfaketime has no library')
    return { address, stop: async () => {} }
  },
}
