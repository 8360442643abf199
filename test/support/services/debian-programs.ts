// Programs of others. They are on PATH, or in Debian packages that are unpacked into a cache.

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { installing, unpack } from './apt.ts'
import { cached } from './cache.ts'
import { findProgram, isDebian } from './program.ts'
import type { Service } from './service.ts'

export const nghttpdService = serviceOf(
  'nghttpd',
  'nghttp2-server',
  /^(nghttp2-server|libev4|libjemalloc2|libnghttp2-14)$/,
  'the HTTP/2 client against nghttpd',
)
export const nginxService = serviceOf(
  'nginx',
  'nginx',
  /^nginx$/,
  'the HTTP/2 client against nginx, and an operator behind it',
)
export const caddyService = serviceOf('caddy', 'caddy', /^caddy$/, 'an operator behind Caddy')
export const promtoolService = serviceOf('promtool', 'prometheus', /^prometheus$/, 'the alert rules and the dashboard')

/** The address of the service is the path of its program. */
function serviceOf(program: string, debianPackage: string, needs: RegExp, proves: string): Service<object> {
  return {
    name: program,
    variable: `BELLWIRE_TEST_${program.toUpperCase()}`,
    proves,
    command: `sudo sh -c '${installing(debianPackage)}'`,
    async start() {
      const address = findProgram(program) ?? (await unpackProgram(program, debianPackage, needs))
      return { address, stop: async () => {} }
    },
  }
}

async function unpackProgram(program: string, debianPackage: string, needs: RegExp): Promise<string> {
  if (!isDebian()) throw new Error(`${program} is not on PATH`)
  const root = await cached(program, (folder) => unpack(debianPackage, needs, folder))
  const [found] = globSync(join(root, 'usr', '{bin,sbin}', program))
  return found ?? Promise.reject(new Error(`${debianPackage} has no program ${program}`))
}

/** The environment in which an unpacked program finds the libraries beside it. */
export function environmentOf(program: string): NodeJS.ProcessEnv {
  const libraries = globSync(join(program, '..', '..', 'lib', '*-linux-*'))
  const { LD_LIBRARY_PATH: given } = process.env
  return { ...process.env, LD_LIBRARY_PATH: [...libraries, ...(given ? [given] : [])].join(':') }
}
