// Real browsers: from PATH, from their usual folders or, as root on Debian, from a package.

import { existsSync } from 'node:fs'
import { install, installing } from './apt.ts'
import { findProgram, isDebian, isRoot } from './program.ts'
import type { Service } from './service.ts'

export interface Browser {
  readonly name: string
  readonly variable: string
  readonly proves: string
  /** Names of its program on PATH. */
  readonly programs: readonly string[]
  /** Other paths of its program. */
  readonly elsewhere: readonly string[]
  /** The Debian package. */
  readonly package: string
  /** Takes its place where it cannot be installed. */
  readonly instead?: Browser
}

/** A browser as a service, whose address is the path of its program. */
export function browserService(browser: Browser): Service<object> {
  const { name, variable, proves, programs } = browser
  return {
    name,
    variable,
    proves,
    command: `sudo sh -c '${installing(browser.package)}', or ${variable}=/path/to/${programs[0]} npm test`,
    async start() {
      const address = await findOrInstall(browser).catch((error: unknown) => {
        if (browser.instead) return findOrInstall(browser.instead)
        throw error
      })
      return { address, stop: async () => {} }
    },
  }
}

async function findOrInstall(browser: Browser): Promise<string> {
  return findBrowser(browser) ?? (await installBrowser(browser))
}

function findBrowser({ programs, elsewhere }: Browser): string | undefined {
  for (const name of programs) {
    const path = findProgram(name)
    if (path) return path
  }
  return elsewhere.find((path) => existsSync(path))
}

async function installBrowser(browser: Browser): Promise<string> {
  const missing = `${browser.programs[0]} is not on PATH`
  if (!isDebian()) throw new Error(missing)
  if (!isRoot()) throw new Error(`${missing}, and only root can install it`)
  await install(browser.package)
  const path = findBrowser(browser)
  if (!path) throw new Error(`${missing} although ${browser.package} was installed`)
  return path
}
