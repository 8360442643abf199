import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { addressOf, type Service, without } from './service.ts'

const programs = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
const elsewhere = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]
const install = 'apt-get update && apt-get install -y --no-install-recommends chromium'

export const chromiumService: Service<object> = {
  name: 'Chromium',
  variable: 'BELLWIRE_TEST_CHROMIUM',
  proves: 'the pages and the widget in a real browser',
  command: `sudo sh -c '${install}', or BELLWIRE_TEST_CHROMIUM=/path/to/chrome npm test`,
  start: findOrInstall,
}

/** The path of a Chromium or Chrome. */
export async function chromium(): Promise<string> {
  return addressOf(chromiumService)
}

/** For a test's `skip`. */
export const withoutChromium = (): Promise<string | false> => without(chromiumService)

async function findOrInstall(): Promise<{ address: string; stop(): Promise<void> }> {
  const address = find() ?? (await installed())
  return { address, stop: async () => {} }
}

function find(): string | undefined {
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

async function installed(): Promise<string> {
  if (process.getuid?.() !== 0) throw new Error('there is none on PATH, and only root can install it')
  if (!existsSync('/etc/debian_version') || spawnSync('apt-get', ['--version']).status !== 0)
    throw new Error('there is none on PATH')
  const shell = spawn('/bin/sh', ['-c', install], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  let said = ''
  shell.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk).slice(-2_000)
  })
  const [code] = await once(shell, 'close')
  const path = find()
  if (code !== 0 || !path) throw new Error(`apt-get could not install it: ${said.trim()}`)
  return path
}
