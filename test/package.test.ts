// What is published: built by tsc, packed, installed into an empty folder, and run from there.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')

test('the packed tarball installs into an empty folder, its entrances import, and its command runs the demo', {
  timeout: 180_000,
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'bellwire-package-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  // npm's scripts find this very Node first, whatever the machine's own is.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}`, NODE_OPTIONS: '' }
  const options = { cwd: folder, env, timeout: 150_000 }

  const { stdout } = await run('npm', ['pack', root, '--json', '--pack-destination', folder], options)
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [
    { filename: string; files: { path: string }[] },
  ]
  const paths = files.map((file) => file.path)
  assert.ok(
    paths.includes('dist/index.js') && paths.includes('dist/index.d.ts') && paths.includes('dist/demo/page/index.html'),
    paths.join('\n'),
  )
  assert.deepEqual(
    paths.filter((path) => /^(src|test|bench|prove)\//.test(path)),
    [],
  )

  await writeFile(join(folder, 'package.json'), '{"name":"somebody","type":"module","private":true}')
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, filename)], options)
  await writeFile(
    join(folder, 'use.js'),
    `import { createOperator, createPlatform, guard, operatorApi } from 'bellwire'
     import * as contract from 'bellwire/contract'
     import * as operator from 'bellwire/operator'
     import * as platform from 'bellwire/platform'
     import * as devices from 'bellwire/devices'
     if (operator.createOperator !== createOperator || platform.createPlatform !== createPlatform) throw new Error('two copies')
     console.log(typeof guard, typeof operatorApi, typeof contract.messageKey, typeof devices.createDeviceClient)`,
  )
  assert.equal((await run(process.execPath, ['use.js'], options)).stdout, 'function function function function\n')
  const demo = await run('node_modules/.bin/bellwire', ['demo', '--once'], options)
  assert.match(demo.stdout, /arrived/)
})
