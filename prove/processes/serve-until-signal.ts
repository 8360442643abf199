import { type Listening, listen } from '../../src/base/http/http.ts'
import { chain } from '../../src/base/http/mount.ts'
import type { Service } from '../../src/base/http/service.ts'

/** Starts a side and its server. SIGTERM stops both together, as docs/library.md says. */
export async function serveUntilSignal(name: 'operator' | 'platform', side: Service, port: number): Promise<void> {
  let listening: Listening | undefined
  process.once('SIGTERM', () => {
    void Promise.all([side.stop(), listening?.close()]).then(() => process.exit(0))
  })
  await side.start()
  listening = await listen(name, chain(side.handler, side.admin.handler), { port })
}
