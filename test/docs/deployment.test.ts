// The unit and the Containerfile of deploy/: their command starts a side, and a stop ends it in order within the time of the unit.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { loadConfig } from '../../src/sides/config/load.ts'
import { startProgram } from '../cli/bellwire.ts'
import { freePort } from '../support/free-port.ts'
import { importOptions } from '../support/quick-imports/import-options.ts'
import { findProgram, run } from '../support/services/program.ts'
import { temporary } from '../support/sides.ts'
import { root } from './blocks.ts'

const unit = readFileSync(join(root, 'deploy/systemd/bellwire@.service'), 'utf8')
const settings = new Map(Array.from(unit.matchAll(/^(\w+)=(.*)$/gm), ([, name = '', value = '']) => [name, value]))
const instructions = Array.from(
  readFileSync(join(root, 'deploy/container/Containerfile'), 'utf8').matchAll(/^([A-Z]+) (.*)$/gm),
  ([, name = '', text = '']) => ({ name, text }),
)
const textOf = (name: string): string => instructions.find((each) => each.name === name)?.text ?? ''

/** A folder with the package installed, and the example configuration of an operator at $PORT. */
async function installation(t: TestContext): Promise<string> {
  const folder = await temporary(t)
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/bellwire'))
  await cp(join(root, 'examples/users.csv'), join(folder, 'users.csv'))
  const example = await readFile(join(root, 'examples/bellwire.yaml'), 'utf8')
  const config = example.replace('  port: 7001', '  port: "${PORT}"').replace('port: 7101', 'port: 0')
  await writeFile(join(folder, 'bellwire.yaml'), config)
  return folder
}

/** Starts the command, and stops it with SIGTERM. */
async function startAndStop(
  t: TestContext,
  [program, ...args]: readonly string[],
  folder: string,
  whileRunning: (port: string) => Promise<void> = async () => {},
): Promise<void> {
  assert.match(program ?? '', /^(\/usr\/bin\/)?node$/)
  const port = String(await freePort())
  const env = { PORT: port, NODE_OPTIONS: '--conditions=bellwire-source' }
  const started = startProgram(t, [process.execPath, ...importOptions, ...args], env, undefined, folder)
  const line = await started.line(/"server\.listening","side":"operator","url"/)
  assert.equal(new URL(JSON.parse(line).url).port, port)
  await whileRunning(port)
  started.child.kill('SIGTERM')
  assert.equal((await started.ended).code, 0)
}

test('the unit starts an operator, and leaves it time to stop', async (t) => {
  const folder = await installation(t)
  const command =
    settings.get('ExecStart')?.replace('%i', 'operator').replace('/etc/bellwire.yaml', join(folder, 'bellwire.yaml')) ??
    ''
  await startAndStop(t, command.split(' '), folder)
  const { operator } = await loadConfig(join(folder, 'bellwire.yaml'), { PORT: '1' })
  assert.ok(Number(settings.get('TimeoutStopSec')) * 1_000 > (operator?.stopWithinMs ?? Number.POSITIVE_INFINITY))
})

const analyze = findProgram('systemd-analyze')
test('systemd knows each setting of the unit, finds it hardened, and its reload is the signal that Bellwire reads', {
  skip: analyze ? false : 'systemd-analyze is not on PATH',
}, async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire@operator.service')
  await writeFile(file, unit.replace('/usr/bin/node', process.execPath))
  assert.equal(await run('sh', ['-c', `${analyze} verify --man=no ${file} 2>&1 | grep bellwire@ || true`]), '')
  // The exposure from 0 to 10, times ten.
  await run('sh', ['-c', `${analyze} security --no-pager --offline=true --threshold=20 ${file}`])
  assert.equal(settings.get('ExecReload'), '/bin/kill -HUP $MAINPID')
})

test('the Containerfile starts an operator without root at the port of the variable PORT, on a Node that the package supports', async (t) => {
  const known = ['FROM', 'WORKDIR', 'COPY', 'RUN', 'VOLUME', 'USER', 'ENV', 'HEALTHCHECK', 'CMD']
  assert.deepEqual(
    instructions.filter(({ name }) => !known.includes(name)),
    [],
  )
  const { engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const [, oldest = ''] = /^>=(\d+)\./.exec(engines.node) ?? []
  const [, major = ''] = /^node:(\d+)-slim$/.exec(textOf('FROM')) ?? []
  assert.ok(Number(major) > Number(oldest), `${major} ${oldest}`)
  assert.match(textOf('RUN'), /^npm ci --omit=dev && /)
  // The user of the process can write to the volume.
  assert.ok(textOf('RUN').endsWith(`install -d -o ${textOf('USER')} ${textOf('VOLUME')}`))
  const [program, ...args] = JSON.parse(textOf('HEALTHCHECK').replace('CMD ', ''))
  assert.equal(program, 'node')
  const check = (port: string) =>
    run(process.execPath, args, { env: { ...process.env, PORT: port } }).then(
      () => true,
      () => false,
    )
  assert.equal(await check(String(await freePort())), false, 'nothing listens')
  await startAndStop(t, JSON.parse(textOf('CMD')), await installation(t), async (port) => assert.ok(await check(port)))
})
