// Real browsers: on PATH, where people install them, or from Debian's packages where we are root.

import { existsSync } from 'node:fs'
import { install, installing } from './apt.ts'
import { findProgram, isDebian, isRoot } from './program.ts'
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
      const address = find(browser) ?? (await installed(browser))
      return { address, stop: async () => {} }
    },
  }
}

function find({ programs, elsewhere }: Browser): string | undefined {
  for (const name of programs) {
    const path = findProgram(name)
    if (path) return path
  }
  return elsewhere.find((path) => existsSync(path))
}

async function installed(browser: Browser): Promise<string> {
  if (!isDebian()) throw new Error('there is none on PATH')
  if (!isRoot()) throw new Error('there is none on PATH, and only root can install it')
  await install(browser.package)
  const path = find(browser)
  if (!path) throw new Error(`${browser.package} was installed, and there is none on PATH`)
  return path
}
