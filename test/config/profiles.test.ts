// Integration profiles: from the configuration of an operator to the lanes of a platform.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fingerprintOf, type IntegrationProfile, profileSchema } from '../../src/contract/integration-profile.ts'
import { operatorProfile } from '../../src/sides/config/compose/operator-profile.ts'
import { loadConfig } from '../../src/sides/config/load.ts'
import { ConfigError, type Problem } from '../../src/sides/config/problem.ts'
import type { PlatformConfig } from '../../src/sides/config/table.ts'
import { temporary } from '../support/sides.ts'

const keyOne = '7f1c2ab93de04856'
const keyTwo = 'b04d7e51c6a89f32'

const operatorFile = `
operator:
  public_url: https://operator.example/api/
  store: "sqlite::memory:"
  keys:
    - {name: platform, key: ${keyOne}, brands: [1, 2], rate: {per_second: 100, per_brand: 60}}
    - {name: test platform, key: ${keyTwo}, brands: [3]}
  push: {provider: recording}
  site: {provider: inbox}
  attributes: [{file: users.csv}]
  limits: {batch: 200, body: 1MiB, answer_budget: 30s}
`

const lane = (more = '', key = keyOne, brand = 1, channel = 'push'): string =>
  `    - {brand: ${brand}, channel: ${channel}, profile: ./operator-profile.json, to: {api_key: ${key}}${more}}`

const platformFile = (...lanes: string[]): string => `
platform:
  store: "sqlite::memory:"
  keys: [{name: crm, key: platform-key-00000000001, scopes: [enqueue]}]
  lanes:
${lanes.join('\n')}
`

async function profileOf(t: TestContext, text = operatorFile): Promise<IntegrationProfile> {
  const folder = await temporary(t)
  const path = join(folder, 'bellwire.yaml')
  await writeFile(join(folder, 'users.csv'), 'brand,user_id,blocked,excluded\n1,u1,true,false\n')
  await writeFile(path, text)
  const { operator } = await loadConfig(path, {})
  assert.ok(operator)
  return operatorProfile(operator, Date.parse('2026-11-23T10:00:00Z'))
}

/** Loads a platform with these lanes and a profile, which is any text. */
async function lanesOf(t: TestContext, profile: unknown, ...lanes: string[]): Promise<PlatformConfig['lanes']> {
  const folder = await temporary(t)
  const path = join(folder, 'bellwire.yaml')
  const text = typeof profile === 'string' ? profile : JSON.stringify(profile)
  await writeFile(join(folder, 'operator-profile.json'), text)
  await writeFile(path, platformFile(...lanes))
  const { platform } = await loadConfig(path, {})
  assert.ok(platform)
  return platform.lanes
}

async function problemsOf(t: TestContext, profile: unknown, ...lanes: string[]): Promise<readonly Problem[]> {
  const error = await lanesOf(t, profile, ...lanes).then(
    () => assert.fail('the lanes were accepted'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof ConfigError, String(error))
  assert.ok(!error.message.includes(keyOne) && !error.message.includes(keyTwo), error.message)
  return error.problems
}

test('the profile of an operator has its limits and no secret', async (t) => {
  const profile = await profileOf(t)
  assert.ok(!JSON.stringify(profile).includes(keyOne))
  const reconciliation = ['blocked', 'excluded']
  assert.deepEqual(profile, {
    version: 1,
    created_at: '2026-11-23T10:00:00.000Z',
    base_url: 'https://operator.example/api',
    channels: ['push', 'site'],
    modes: ['single', 'batch'],
    batch_max: 200,
    body_bytes: 1024 ** 2,
    answer_within_ms: 30_000,
    concurrency: 4,
    keys: [
      {
        name: 'platform',
        fingerprint: fingerprintOf(keyOne),
        brands: ['1', '2'],
        rate: { per_second: 100, per_brand: 60 },
      },
      { name: 'test platform', fingerprint: fingerprintOf(keyTwo), brands: ['3'] },
    ],
    brands: ['1', '2', '3'].map((brand) => ({ brand, reconciliation })),
  })
})

test('a lane gets its settings from the profile, and keeps within it', async (t) => {
  const [only] = await lanesOf(t, await profileOf(t), lane())
  assert.partialDeepStrictEqual(only, {
    to: { is: 'operator-api', url: 'https://operator.example/api', apiKey: keyOne },
    mode: 'batch',
    max: 200,
    bytes: 1024 ** 2,
    concurrency: 4,
    perSecond: 60,
    timeoutMs: 40_000,
  })
})

test("a profile lowers the platform's defaults, but does not raise them", async (t) => {
  const profile = {
    ...(await profileOf(t)),
    batch_max: 50_000,
    body_bytes: 2 ** 30,
    concurrency: 90,
    answer_within_ms: 5,
  }
  const [only] = await lanesOf(t, profile, lane('', keyTwo, 3))
  assert.partialDeepStrictEqual(only, { max: 500, bytes: 4 * 1024 ** 2, concurrency: 4, timeoutMs: 30_000 })
  assert.equal(only?.perSecond, undefined, 'the key has no rate')
})

test('the lanes of a key share its rate, after those that have a rate of their own', async (t) => {
  const profile = await profileOf(t)
  const rates = async (...lanes: string[]) => (await lanesOf(t, profile, ...lanes)).map((each) => each.perSecond)
  const four = (['push', 'site'] as const).flatMap((channel) => [1, 2].map((brand) => ({ channel, brand })))
  assert.deepEqual(await rates(...four.map(({ channel, brand }) => lane('', keyOne, brand, channel))), [25, 25, 25, 25])
  const [first, ...others] = four.map(({ channel, brand }, i) =>
    lane(i === 0 ? ', per_second: 40' : '', keyOne, brand, channel),
  )
  assert.deepEqual(await rates(first as string, ...others), [40, 20, 20, 20])
})

test('settings of a lane beyond the profile are refused, each with its remedy', async (t) => {
  const profile = await profileOf(t)
  const beyond: [string, string, RegExp][] = [
    [lane(', max: 201'), 'max', /more than the 200 messages of operator-profile\.json/],
    [lane(', bytes: 2MiB'), 'bytes', /1048576 bytes/],
    [lane(', timeout: 30s'), 'timeout', /30000 ms/],
    [lane(', per_second: 61'), 'per_second', /61 messages a second together, and .* allows 60/],
    [lane('', keyOne, 3), 'brand', /allows the brands 1, 2 for this key/],
  ]
  for (const [written, name, description] of beyond) {
    const [problem, ...others] = await problemsOf(t, profile, written)
    assert.deepEqual(others, [])
    assert.equal(problem?.path, `platform.lanes[0].${name}`)
    assert.match(problem.description, description)
    assert.match(problem.remedy ?? '', /bellwire operator profile/)
  }
  const one = { ...profile, channels: ['push'], modes: ['single'] }
  const [single] = await lanesOf(t, one, lane())
  assert.partialDeepStrictEqual(single, { mode: 'single', max: 1 })
  const paths = (await problemsOf(t, one, lane(', mode: batch', keyOne, 1, 'site'))).map(({ path }) => path)
  assert.deepEqual(paths, ['platform.lanes[0].channel', 'platform.lanes[0].mode'])
  const shares = ['push', 'site'].map((channel) => lane(', per_second: 50', keyOne, 1, channel))
  const [sum] = await problemsOf(t, profile, ...shares)
  assert.match(sum?.description ?? '', /the 2 lanes with brand 1 of the key platform have 100 messages a second/)
})

test('a wrong key is found by its fingerprint before anything starts', async (t) => {
  const [problem, ...others] = await problemsOf(t, await profileOf(t), lane('', 'a-key-of-another-place'))
  assert.deepEqual(others, [])
  assert.equal(problem?.path, 'platform.lanes[0].to.api_key')
  assert.ok(problem.description.includes(`${fingerprintOf(keyOne)} (platform)`), problem.description)
  assert.match(problem.remedy ?? '', /set a key that the operator issued/)
})

test('a profile that cannot be used is refused with the reason and the remedy', async (t) => {
  const good = await profileOf(t)
  const bad: [string, unknown, RegExp][] = [
    ['a later version', { ...good, version: 2 }, /its version is 2, and this release reads version 1/],
    ['no version', { ...good, version: undefined }, /version is missing/],
    ['not JSON', '{', /it is not JSON/],
    ['a list', [], /the profile is an array of 0: give an integration profile/],
    ['null', null, /the profile is null/],
    ['a number', 7, /the profile is a number/],
    ['a script', { ...good, base_url: 'javascript:alert(1)' }, /base_url is "javascript:alert\(1\)"/],
    ['a file', { ...good, base_url: 'file:///etc/passwd' }, /base_url/],
    ['no address', { ...good, base_url: 'https://' }, /base_url/],
    ['a password', { ...good, base_url: 'https://u:p@operator.example' }, /base_url/],
    ['a text as a number', { ...good, batch_max: '200' }, /batch_max is "200"/],
    ['a fraction', { ...good, batch_max: 1.5 }, /batch_max is 1\.5/],
    ['a negative rate', { ...good, keys: [{ ...good.keys[0], rate: { per_second: -1 } }] }, /per_second is -1/],
    ['no keys', { ...good, keys: [] }, /keys/],
    ['a key', { ...good, keys: [{ ...good.keys[0], fingerprint: keyTwo }] }, /fingerprint/],
    ['another channel', { ...good, channels: ['email'] }, /channels/],
    ['a huge file', `{"version":1,"x":"${'x'.repeat(300_000)}"}`, /it is larger than 256 KiB/],
    ['deep nesting', '['.repeat(200_000), /cannot be used/],
  ]
  for (const [name, profile, description] of bad) {
    const [problem] = await problemsOf(t, profile, lane())
    assert.equal(problem?.path, 'platform.lanes[0].profile', name)
    assert.match(problem.description, description, name)
    assert.ok(problem.description.length < 600, name)
    assert.match(problem.remedy ?? '', /ask the operator for a new profile/, name)
  }
})

test('a missing profile, and a profile for your own module, are refused', async (t) => {
  const profile = await profileOf(t)
  const [missing] = await problemsOf(t, profile, lane().replace('operator-profile', 'other'))
  assert.match(missing?.description ?? '', /other\.json cannot be used: it does not exist/)
  const [module] = await problemsOf(t, profile, lane().replace('{api_key: 7f1c2ab93de04856}', '{module: ./mine.ts}'))
  assert.match(module?.description ?? '', /not for your own module/)
  const [noKey] = await problemsOf(
    t,
    profile,
    lane().replace('{api_key: 7f1c2ab93de04856}', '{provider: operator-api}'),
  )
  assert.match(noKey?.description ?? '', /missing; the profile has only its fingerprint/)
})

test('the key may come from the environment, and unknown members of a profile are ignored', async (t) => {
  const folder = await temporary(t)
  const path = join(folder, 'bellwire.yaml')
  await writeFile(join(folder, 'operator-profile.json'), JSON.stringify({ ...(await profileOf(t)), later: true }))
  await writeFile(path, platformFile(lane().replace(`, to: {api_key: ${keyOne}}`, '')))
  const { platform } = await loadConfig(path, { BELLWIRE_PLATFORM_LANES_0_TO_API_KEY: keyOne })
  assert.partialDeepStrictEqual(platform?.lanes[0], { max: 200, to: { url: 'https://operator.example/api' } })
})

test('the published schema is that of the code', async () => {
  const published = await readFile(new URL('../../docs/integration-profile.schema.json', import.meta.url), 'utf8')
  const remedy = 'bellwire operator profile --schema --out docs/integration-profile.schema.json'
  assert.deepEqual(JSON.parse(published), JSON.parse(JSON.stringify(profileSchema)), `write it with: ${remedy}`)
})
