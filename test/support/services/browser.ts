// Real browsers: on PATH, where people install them, or from Debian's packages where we are root.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Service } from './service.ts'

export interface Browser {
  readonly name: string
  readonly variable: string
  readonly proves: string
  /** Its names on PATH. */
  readonly programs: readonly string[]
  /** Where else it is. */
  readonly elsewhere: readonly string[]
  /** Debian's package. */
  readonly package: string
}

/** A browser as a service: its address is its path. */
export function browserService(browser: Browser): Service<object> {
  const { name, variable, proves, programs } = browser
  return {
    name,
    variable,
    proves,
    command: `sudo sh -c '${installing(browser.package)}', or ${variable}=/path/to/${programs[0]} npm test`,
    async start() {
      const address = find(browser) ?? (await install(browser))
      return { address, stop: async () => {} }
    },
  }
}

const installing = (name: string): string => `apt-get update && apt-get install -y --no-install-recommends ${name}`

function find({ programs, elsewhere }: Browser): string | undefined {
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => programs.map((program) => join(folder, program)))
  return [...onPath, ...elsewhere].find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

let lastInstall: Promise<unknown> = Promise.resolve()

/** One after the other: apt-get locks its lists and does not wait. */
function install(browser: Browser): Promise<string> {
  const installed = lastInstall.then(() => installOne(browser))
  lastInstall = installed.catch(() => {})
  return installed
}

async function installOne(browser: Browser): Promise<string> {
  if (process.getuid?.() !== 0) throw new Error('there is none on PATH, and only root can install it')
  if (!existsSync('/etc/debian_version') || spawnSync('apt-get', ['--version']).status !== 0)
    throw new Error('there is none on PATH')
  const shell = spawn('/bin/sh', ['-c', installing(browser.package)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  let said = ''
  shell.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk).slice(-2_000)
  })
  const [code] = await once(shell, 'close')
  const path = find(browser)
  if (code !== 0 || !path) throw new Error(`apt-get could not install it: ${said.trim()}`)
  return path
}
