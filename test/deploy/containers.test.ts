// The compose file and the Kubernetes manifests: their configurations are valid, their files and variables exist, and nothing runs with rights
// that it does not need. No container is started.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../../src/sides/config/load.ts'
import { kubernetesValidateService, validateManifests } from '../support/services/kubernetes-validate.ts'
import { addressOf, without } from '../support/services/service.ts'
import { temporary } from '../support/sides.ts'
import { deploy, promtool, withoutPromtool } from './promtool.ts'

const manifests = join(deploy, 'kubernetes/operator.yaml')
const skip = await without(kubernetesValidateService)

test('the schemas of Kubernetes allow each member of the manifests, and find a wrong one', { skip }, async (t) => {
  const folder = await addressOf(kubernetesValidateService)
  for (const version of ['1.30', '1.37']) await validateManifests(folder, version, manifests)
  const wrong = join(await temporary(t), 'wrong.yaml')
  await writeFile(wrong, (await readFile(manifests, 'utf8')).replace('minAvailable:', 'minAvailabel:'))
  await assert.rejects(validateManifests(folder, '1.37', wrong), /minAvailabel/)
})

test('the manifests start an operator with a valid configuration, time to stop, and no rights', async (t) => {
  const [map, deployment, service, budget] = parseAllDocuments(await readFile(manifests, 'utf8')).map((each) =>
    each.toJS(),
  )
  const folder = await temporary(t)
  for (const name of ['postgres-password', 'operator-key', 'admin-key'])
    await writeFile(join(folder, name), `a-long-${name}-0815`)
  const file = join(folder, 'bellwire.yaml')
  await writeFile(file, map.data['bellwire.yaml'].replaceAll('/secrets/', `${folder}/`))
  const { operator } = await loadConfig(file, {})
  const { spec, metadata } = deployment.spec.template
  const [container] = spec.containers
  const ports = container.ports.map((each: { containerPort: number }) => each.containerPort)
  assert.deepEqual(ports, [operator?.port, operator?.admin?.port])
  assert.ok(spec.terminationGracePeriodSeconds * 1_000 > (operator?.stopWithinMs ?? Number.POSITIVE_INFINITY) + 5_000)
  for (const { spec } of [service, budget])
    assert.deepEqual(spec.selector.matchLabels ?? spec.selector, metadata.labels)
  assert.ok(spec.securityContext.runAsNonRoot)
  assert.ok(container.securityContext.readOnlyRootFilesystem)
})

const read = (name: string) => readFileSync(join(deploy, 'compose', name), 'utf8')

test('the compose file has a valid configuration for both sides, and its files and variables exist', async () => {
  const { services } = parse(read('compose.yaml'), { merge: true })
  const variables = {
    POSTGRES_PASSWORD: 'p',
    OPERATOR_KEY: 'a-long-key-of-one-0815',
    OPERATOR_ADMIN_KEY: 'a-long-key-of-two-4711',
  }
  const env = { ...variables, PLATFORM_KEY: 'a-long-key-of-three-42' }
  const { operator, platform } = await loadConfig(join(deploy, 'compose/bellwire.yaml'), env)
  assert.deepEqual([operator?.admin?.port, platform?.admin?.port], [7101, 7102])
  assert.deepEqual(services.operator.environment.toSorted(), Object.keys(env).toSorted())
  for (const side of ['operator', 'platform']) {
    assert.ok(services[side].read_only, side)
    assert.deepEqual(services[side].cap_drop, ['ALL'])
    assert.deepEqual(services[side].command.at(-1), side)
  }
  const mounted = Object.values(services as Record<string, { volumes?: string[] }>)
    .flatMap(({ volumes = [] }) => volumes)
    .flatMap((volume) => /^\.\/([^:]+):/.exec(volume)?.[1] ?? [])
  /** The reader copies these from the other folders of `deploy`. */
  const elsewhere: Readonly<Record<string, string>> = { Caddyfile: 'caddy', 'rules.yml': 'prometheus' }
  for (const name of mounted) assert.ok(existsSync(join(deploy, elsewhere[name] ?? 'compose', name)), name)
})

test('promtool accepts the scrape configuration of the compose file', { skip: await withoutPromtool() }, async (t) => {
  const folder = await temporary(t)
  await writeFile(join(folder, 'prometheus.yml'), read('prometheus.yml'))
  await writeFile(join(folder, 'rules.yml'), readFileSync(join(deploy, 'prometheus/rules.yml')))
  await promtool('check', 'config', join(folder, 'prometheus.yml'))
})
