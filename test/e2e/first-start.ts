// npm run first-start: the first start of a stranger, word for word as docs/start.md and docs/deployment.md print it, to a notification
// in Chromium. Once on a bare Debian 13, and once with the unpacked image of deploy/container. Chromium subscribes at a stand-in.
// Needs root on Debian, the registries of Debian and npm, and the free ports of the documentation. It takes minutes.

import assert from 'node:assert/strict'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { after, type TestContext } from 'node:test'
import { startWebPushStandIn } from '../../src/tools/stand-ins/web-push.ts'
import { type Started, startProgram } from '../cli/bellwire.ts'
import { fencedSnippets, read } from '../docs/blocks.ts'
import { chromiumOrigin, startFakeGcm } from '../support/gcm/fake-gcm.ts'
import { pack } from '../support/installed-package.ts'
import { install } from '../support/services/apt.ts'
import { findProgram, run } from '../support/services/program.ts'
import { temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { clickSubscribe, launchChromium, openPage, titleOfNotification } from './launch-chromium.ts'

const tools = ['mmdebstrap', 'umoci', 'skopeo']
if (tools.some((name) => findProgram(name) === undefined)) await install(...tools)
const packageUrl = await servePackage()
/** The private authorities of this machine, for npm. */
const authorities = process.env.NODE_EXTRA_CA_CERTS

test('a bare Debian 13: the package is installed, and three commands lead to a notification', async (t) => {
  const begin = processGroups(t)
  const debian = join(await temporary(t), 'debian')
  await run('mmdebstrap', ['--quiet', '--variant=minbase', 'trixie', debian], { withinMs: 900_000 })
  await copyFile('/etc/resolv.conf', join(debian, 'etc/resolv.conf'))
  if (authorities) await copyFile(authorities, join(debian, 'etc/authorities.pem'))
  const as = (user: string, command: string, env: NodeJS.ProcessEnv = {}): Promise<string> => {
    const [program, ...args] = inDebian(debian, user, command)
    return run(program, args, { env: { PATH: process.env.PATH, ...env }, withinMs: 900_000 })
  }
  await as('root', 'useradd --create-home --shell /bin/bash ann')

  const [, apt, npm = ''] = /`(apt-get install [^`]*npm)` as root, then `(npm install bellwire \S+)`/.exec(start) ?? []
  assert.ok(apt)
  const quietly = `export DEBIAN_FRONTEND=noninteractive; apt-get -qq update; ${apt} -qq --yes`
  await timed(t, apt, () => as('root', quietly))
  const ca =
    authorities === undefined
      ? {}
      : { NODE_EXTRA_CA_CERTS: '/etc/authorities.pem', npm_config_cafile: '/etc/authorities.pem' }
  await timed(t, npm, () => as('ann', npm.replace(' bellwire ', ` ${packageUrl} `), ca))
  const [init = '', operator = '', push = ''] = start
    .split('\n')
    .filter((line) => /^npx bellwire (init|operator|push)/.test(line) && !line.includes('--config'))
  const printed = await timed(t, init, () => as('ann', init))
  assert.match(printed, /\n {2}npx bellwire operator\n {2}npx bellwire push --user 1001 --subscribe\n/)
  const show = await startBrowser(t)
  await timed(t, `${operator}, ${push}`, () =>
    show(
      (env) => begin(inDebian(debian, 'ann', operator), env),
      () => begin(inDebian(debian, 'ann', push)),
    ),
  )
})

const start = read('docs/start.md')

/** A command of a user in a Debian, with its own /proc. */
function inDebian(debian: string, user: string, command: string): [string, ...string[]] {
  const home = user === 'root' ? '/root' : `/home/${user}`
  const enter = `mount -t proc proc "$0/proc" && exec chroot --userspec=${user} "$0" /usr/bin/env -C ${home} HOME=${home} bash -c "$1"`
  return ['unshare', '--mount', 'bash', '-c', enter, debian, command]
}

test('the image of deploy/container: as the user 1000 with a read-only root, both sides deliver to a browser', async (t) => {
  const [build = '', unpack = ''] = fencedSnippets('docs/deployment.md', 'sh').map(({ text }) => text)
  const begin = processGroups(t)
  const site = await temporary(t)
  const inSite = { cwd: site, withinMs: 900_000 }
  await writeFile(join(site, 'package.json'), '{"private": true}')
  await run('npm', ['install', '--no-audit', '--no-fund', packageUrl], inSite)
  const [builds = ''] = build.split('\n')
  await timed(t, builds, () => run('bash', ['-c', builds], inSite))
  const [folder = ''] = builds.split(' ').slice(-1)
  const { config } = JSON.parse(await run('skopeo', ['inspect', '--config', `oci:${folder}:latest`], inSite))
  assert.deepEqual([config.User, config.WorkingDir, config.Cmd], ['1000:1000', '/var/lib/bellwire', ['operator']])

  const enter = unpack.indexOf('unshare --mount')
  const printed = 'init operator --push recording'
  assert.ok(unpack.includes(`bellwire.cjs ${printed}'`), unpack)
  const bellwire = (args: string, env?: NodeJS.ProcessEnv): Started =>
    begin(['bash', '-c', `cd ${site}; exec ${unpack.slice(enter).replace(printed, args)}`], env)
  await run('bash', ['-c', unpack.slice(0, enter)], inSite)
  await timed(t, 'init', () => demand(bellwire('init operator --push web-push')))
  const show = await startBrowser(t)
  await timed(t, 'the message', () =>
    show(
      (env) => bellwire('operator', env),
      () => bellwire('push --user 1001 --subscribe'),
    ),
  )
  assert.equal((await fetch('http://127.0.0.1:7001/healthz')).status, 200)
  await demand(bellwire('init platform --dir platform --operator-key-file keys/platform'))
  const platform = bellwire('platform --config platform/bellwire.yaml')
  await platform.line(/"server\.listening".*"admin"/)
  const shown = await demand(bellwire('push --config platform/bellwire.yaml --user 1001 --title Second'))
  assert.match(shown, /\nPlatform +successful after 1 attempt/)
})

type Show = (operator: (env: NodeJS.ProcessEnv) => Started, push: () => Started) => Promise<void>

/** @returns a function that starts the operator, subscribes Chromium, and waits until it shows the message */
async function startBrowser(t: TestContext): Promise<Show> {
  const standIn = await startWebPushStandIn({ origin: chromiumOrigin })
  t.after(() => standIn.close())
  const lifetime = { after: (work: () => Promise<void>) => t.after(work) }
  const browser = await launchChromium(lifetime, await startFakeGcm(lifetime, standIn))
  const redirected = 'BELLWIRE_OPERATOR_PUSH_DEVICES_SERVICES_0_TESTING_ORIGINS_0'
  return async (operator, push) => {
    const running = operator({ [`${redirected}_FROM`]: chromiumOrigin, [`${redirected}_TO`]: standIn.url })
    await running.line(/"server\.listening".*"admin"/)
    const pushed = push()
    const address = await until(() => /http:\S+(?=\n)/.exec(pushed.err())?.[0], {
      awaited: 'the page',
      withinMs: 60_000,
    })
    const page = await openPage(browser, address)
    await clickSubscribe(page)
    const out = await demand(pushed)
    assert.match(out, /\nOperator +successful after 1 attempt/)
    assert.equal(await titleOfNotification(page), 'Hello')
  }
}

/** Serves the package of this checkout, as a registry does. @returns its address */
async function servePackage(): Promise<string> {
  const packed = await pack()
  const tarball = await readFile(packed.tarball)
  await packed.remove()
  const server = createServer((_request, response) => void response.end(tarball))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/bellwire.tgz`
}

type Start = (command: readonly [string, ...string[]], env?: NodeJS.ProcessEnv) => Started

/** Starts each command in a process group of its own, which ends with the test. Call it before the folder of the commands is made. */
function processGroups(t: TestContext): Start {
  const all: Started[] = []
  t.after(() => Promise.all(all.map(endGroup)))
  return (command, env) => {
    const started = startProgram(t, ['setsid', ...command], env)
    all.push(started)
    return started
  }
}

async function endGroup({ child, ended }: Started): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return
  process.kill(-child.pid, 'SIGTERM')
  await ended
}

/** @returns the output of a command that succeeds */
async function demand({ ended }: Started): Promise<string> {
  const { code, out, err } = await ended
  assert.equal(code, 0, `${out}\n${err}`)
  return out
}

/** Reports the duration of a step. */
async function timed<T>(t: TestContext, step: string, work: () => Promise<T>): Promise<T> {
  const from = performance.now()
  const result = await work()
  t.diagnostic(`${step}: ${((performance.now() - from) / 1000).toFixed(1)} s`)
  return result
}
