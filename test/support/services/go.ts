// Programs in Go: h2specd, and peers of the tests of HTTP/2. They are built once from test/http2/go with the Go of this machine,
// or with Debian's, which root installs.

import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { install, installing } from './apt.ts'
import { cached } from './cache.ts'
import { findProgram, isDebian, isRoot, run } from './program.ts'
import { addressOf, type Service, without } from './service.ts'

const sources = join(import.meta.dirname, '..', '..', 'http2', 'go')
const packages = ['github.com/summerwind/h2spec/cmd/h2specd', './hpack', './server']

export const goService: Service<object> = {
  name: 'Go',
  variable: 'BELLWIRE_TEST_GO',
  proves: 'the HTTP/2 client against h2spec and against servers in Go',
  command: `sudo sh -c '${installing('golang-go')}', or put go on PATH`,
  start: async () => ({ address: await build(), stop: async () => {} }),
}

/** Returns the path of a program that is built from test/http2/go. */
export const goProgram = async (name: 'h2specd' | 'hpack' | 'server'): Promise<string> =>
  join(await addressOf(goService), name)

/** The reason to skip a test, or false. */
export const withoutGo = (): Promise<string | false> => without(goService)

/** @returns the folder of the programs */
async function build(): Promise<string> {
  const go = await findGo()
  const hash = createHash('sha256')
  for (const file of globSync('**/*.{go,mod,sum}', { cwd: sources }).sort())
    hash.update(readFileSync(join(sources, file)))
  return cached(`go-${hash.digest('hex').slice(0, 16)}`, async (folder) => {
    const settings = { GOTOOLCHAIN: 'local', GOFLAGS: '-mod=readonly -buildvcs=false', CGO_ENABLED: '0' }
    // The compiler collects its garbage less often, which saves a fifth of its processor time.
    const env = { ...process.env, ...settings, GOGC: '400' }
    // Without optimization it takes a quarter less: the programs do little work.
    const unoptimized = '-gcflags=all=-N -l'
    await run(go, ['build', unoptimized, '-o', `${folder}/`, ...packages], { cwd: sources, env, withinMs: 600_000 })
  })
}

async function findGo(): Promise<string> {
  const known = ['/usr/local/go/bin/go']
  const present = findProgram('go', known)
  if (present) return present
  if (!isDebian() || !isRoot()) throw new Error('go is not on PATH')
  await install('golang-go')
  return findProgram('go') ?? Promise.reject(new Error('golang-go has no program go'))
}
