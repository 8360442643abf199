// A shell in which `bellwire`, `npx bellwire` and `npm run bellwire --` run this checkout. Servers go on in the background until the test
// ends. The ports that the documentation prints stand for free ones.

import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { type Run, start } from '../cli/bellwire.ts'
import { freePort } from '../support/free-port.ts'
import type { CommandLine } from './command-runner.ts'

export interface Shell {
  readonly folder: string
  /** The folder of the next script. */
  cwd: string
  /** Texts of the pages and what they are here. The address of a started server is added. */
  readonly replaced: Map<string, string>
  /** Variables that scripts find, besides those that earlier scripts have set. */
  readonly env: NodeJS.ProcessEnv
  /** Replaces the texts. */
  here(text: string): string
  /** Forgets the texts and the variables. */
  reset(): Promise<void>
  /** @returns the standard output, and each command that failed, with its errors */
  run(script: string): Promise<{ readonly out: string; readonly failed: string }>
}

/** The commands that run until they are stopped, their printed ports, and the line after which they are ready. */
const servers = [
  {
    command: /^operator (?!profile)/,
    ready: /"part":"admin"/,
    ports: { BELLWIRE_OPERATOR_PORT: 7001, BELLWIRE_OPERATOR_ADMIN_PORT: 7101 },
  },
  {
    command: /^platform (?!move-brand)/,
    ready: /"part":"admin"/,
    ports: { BELLWIRE_PLATFORM_PORT: 7002, BELLWIRE_PLATFORM_ADMIN_PORT: 7102 },
  },
  { command: /^fake operator/, ready: /base_url .*:(\d+)$/, ports: { option: 4800 } },
  { command: /^fake platform/, ready: /platform_url .*:(\d+)$/, ports: { option: 4900 } },
  { command: /^shadow/, ready: /platform call .*:(\d+) instead/, ports: { option: 8090 } },
  { command: /^stand-ins/, ready: /control .*:(\d+) /, ports: { option: 4700 } },
] as const

/** @param ports the ports of the first servers */
export async function openShell(t: TestContext, folder: string, ports: ReadonlyMap<number, number>): Promise<Shell> {
  const replaced = new Map<string, string>()
  const started = new Set<number>()
  const base: NodeJS.ProcessEnv = { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder, NO_COLOR: '1' }
  const env: NodeJS.ProcessEnv = {}
  const runner = fork(join(import.meta.dirname, 'command-runner.ts'))
  t.after(() => runner.kill('SIGKILL'))

  const socket = join(folder, 'commands.sock')
  const commands = createServer(async (request, response) => {
    const { out, err, code } = await runLine(commandLineOf(await text(request))).catch((error: Error) => ({
      out: '',
      err: error.stack ?? '',
      code: 99,
    }))
    response.end(`printf %s ${quote(out)}; printf %s ${quote(err)} >&2; exit ${code}`)
  }).listen(socket)
  await once(commands, 'listening')
  t.after(() => commands.close())
  await mkdir(join(folder, 'bin'), { recursive: true })
  for (const name of ['bellwire', 'npx', 'npm']) await writeStub(join(folder, 'bin'), name, socket)

  async function runLine(line: CommandLine): Promise<Run> {
    const server = servers.find(({ command }) => command.test(`${line.args.join(' ')} `))
    if (server) return startServer(line, server)
    runner.send(line)
    const [run] = (await once(runner, 'message')) as [Run]
    return run
  }

  async function startServer(
    { args, cwd, env: variables }: CommandLine,
    server: (typeof servers)[number],
  ): Promise<Run> {
    const options = [...args]
    const chosen: NodeJS.ProcessEnv = {}
    for (const [name, printed] of Object.entries(server.ports)) {
      if (name === 'option') options.push('--port', '0')
      else {
        const here = (!started.has(printed) && ports.get(printed)) || (await freePort())
        started.add(printed)
        replaced.set(address(printed), address(here))
        chosen[name] = String(here)
      }
    }
    const process = start(t, options, { ...variables, ...chosen }, undefined, cwd)
    const ready = await Promise.race([process.line(server.ready), process.ended])
    if (typeof ready !== 'string') return ready
    const [, port] = server.ready.exec(ready) ?? []
    if (port) replaced.set(address('option' in server.ports ? server.ports.option : 0), address(Number(port)))
    return { code: 0, out: process.out(), err: '' }
  }

  const state = join(folder, 'variables.sh')
  await writeFile(state, '')
  const shell: Shell = {
    folder,
    cwd: folder,
    replaced,
    env,
    here: (text) => [...replaced].reduce((changed, [printed, here]) => changed.replaceAll(printed, here), text),
    async reset() {
      replaced.clear()
      shell.cwd = folder
      for (const name of Object.keys(env)) delete env[name]
      await writeFile(state, '')
    },
    async run(script) {
      const done = { out: '', failed: '' }
      // After the start of a server its address is known.
      for (const part of script.split(
        /(?<=^(?:npx |npm run )?bellwire (?:-- )?(?:operator|platform|fake|shadow|stand-ins)\b.*\n)/m,
      )) {
        const file = join(folder, 'script.sh')
        await writeFile(file, `${prologue}\n. ${state}\nset -a\n${shell.here(part)}\nset +a\nexport -p > ${state}\n`)
        const { stdout, stderr } = await execute(file, shell.cwd, { ...base, ...env })
        done.out += stdout
        if (/^!!/m.test(stderr)) done.failed += stderr
      }
      return done
    },
  }
  return shell
}

const address = (port: number): string => `127.0.0.1:${port}`

/** Each command that fails is named. An answer of an error fails, and a stream ends after a second. */
const prologue = `
set -o pipefail
trap 'echo "!! exit code $?: $BASH_COMMAND" >&2' ERR
curl() {
  case "$*" in */stream*) command curl --fail-with-body -sS --max-time 1 "$@" || test $? = 28;; *) command curl --fail-with-body -sS "$@";; esac
}`

function execute(file: string, cwd: string, env: NodeJS.ProcessEnv): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile('bash', [file], { cwd, env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ stdout, stderr: error?.killed ? `${stderr}\n!! no end after a minute` : stderr }),
    )
  })
}

/** A program that passes its folder, arguments and variables to this test, and evaluates the answer. */
async function writeStub(bin: string, name: string, socket: string): Promise<void> {
  const skipped = { npx: ['bellwire'], npm: ['run', 'bellwire', '--'] }[name] ?? []
  const program = `#!/bin/bash
for word in ${skipped.join(' ')}; do
  [ "$1" = "$word" ] || { echo 'only ${[name, ...skipped].join(' ')} runs here' >&2; exit 1; }
  shift
done
eval "$({ printf '%s\\0' "$PWD" $# "$@"; env -0; } | curl -sS --unix-socket ${quote(socket)} --data-binary @- http://localhost)"
`
  await writeFile(join(bin, name), program, { mode: 0o755 })
}

function commandLineOf(sent: string): CommandLine {
  const [cwd = '', count, ...rest] = sent.split('\0').slice(0, -1)
  const env = rest.splice(Number(count)).map((each) => /^(.*?)=(.*)$/s.exec(each)?.slice(1) as [string, string])
  return { cwd, args: rest, env: Object.fromEntries(env) }
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
