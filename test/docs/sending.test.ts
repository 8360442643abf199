// The configuration in docs/sending.md is valid, and its statements on names, states and bounds agree with the code.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { counters } from '../../src/base/runtime/counters.ts'
import { platformOptions } from '../../src/sides/config/compose/compose.ts'
import { loadConfig } from '../../src/sides/config/load.ts'
import type { PlatformConfig } from '../../src/sides/config/table.ts'
import { temporary } from '../support/sides.ts'

const page = await readFile(join(import.meta.dirname, '../../docs/sending.md'), 'utf8')
const [, block = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? []

test('the configuration in docs/sending.md is accepted, and consumes what its comments say', async (t) => {
  const file = join(await temporary(t), 'bellwire.yaml')
  await writeFile(file, `accept_risks: [clear_text_to_other_hosts]\n${block}`)
  const { platform } = await loadConfig(file, {})
  const { intake = [] } = await platformOptions(platform as PlatformConfig)
  assert.deepEqual(
    intake.map(({ consumer, channel, brands }) => [consumer.name, channel, brands]),
    [
      ['amqp activities.push', 'push', ['1']],
      ['kafka activities', undefined, undefined],
    ],
  )
  const [queue] = platform?.intake ?? []
  assert.ok(queue?.from.is === 'amqp')
  assert.ok(page.includes(`(default: ${queue.from.prefetch}, so at most ${queue.from.prefetch} MiB`))
})

test('docs/sending.md names only counters that exist', () => {
  const known = new Set(counters.map(({ name }) => `bellwire_${name}_total`))
  const named = [...page.matchAll(/bellwire_\w+_total/g)].map(([name]) => name)
  assert.ok(named.length >= 5)
  for (const name of named) assert.ok(known.has(name), name)
})
