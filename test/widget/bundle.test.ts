import assert from 'node:assert/strict'
import test from 'node:test'
import { gzipSync } from 'node:zlib'
import { bundleWidget, entries } from '../../release/bundle-widget.ts'

for (const entry of entries)
  test(`bellwire/${entry} is one module of at most 20 KB compressed`, async () => {
    const module = await bundleWidget(entry)
    const { length } = gzipSync(module)
    assert.ok(length <= 20_000, `${length} bytes`)
    assert.doesNotMatch(
      Buffer.from(module).toString(),
      /\bimport\b[^;]{0,200}["']|\brequire\(/,
      'it loads no other module',
    )
  })
