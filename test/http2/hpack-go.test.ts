// Our HPACK against that of Go, in both directions, with tables of changing sizes.

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { ConnectionError } from '../../src/base/http2/frames.ts'
import { Decoder } from '../../src/base/http2/hpack-decoder.ts'
import { Encoder, fieldOverhead, type Indexing, sizeUpdateBytes } from '../../src/base/http2/hpack-encoder.ts'
import { withoutGo } from '../support/services/go.ts'
import { startGoHpack } from './go-hpack.ts'

const skip = await withoutGo()

const text = (maxLength: number) => fc.string({ unit: 'grapheme-ascii', maxLength })
const name = fc.oneof(
  fc.constantFrom(':status', 'content-type', 'date', 'apns-id', 'authorization', 'x-a', 'x-b', 'cookie'),
  fc.stringMatching(/^[a-z-]{1,20}$/),
)
const value = fc.oneof(fc.constantFrom('', '200', 'a', 'application/json'), text(40), text(1_000))
const fields = fc.array(fc.tuple(name, value), { maxLength: 12 }).map((pairs) => pairs.flat())
const tableSize = fc.option(fc.constantFrom(0, 33, 100, 500, 4_096, 65_536), { freq: 8, nil: undefined })
const indexings: readonly Indexing[] = ['table', 'nameOnly', 'once']
/** The lists of one connection. */
const connection = fc.array(fc.tuple(fields, tableSize, fc.nat({ max: 2 })), { minLength: 30, maxLength: 60 })
const options = { numRuns: 60, seed: Number(process.env.SEED ?? Date.now() | 0) }

function encode(encoder: Encoder, list: readonly string[], shift: number): string {
  const room = list.reduce((sum, one) => sum + one.length + fieldOverhead, sizeUpdateBytes)
  const block = Buffer.alloc(room)
  let at = encoder.beginBlock(block, 0)
  for (let i = 0; i < list.length; i += 2) {
    const indexing = indexings[(i / 2 + shift) % 3] as Indexing
    at = encoder.writeField(block, at, list[i] as string, list[i + 1] as string, indexing)
  }
  return block.toString('hex', 0, at)
}

function decode(decoder: Decoder, block: string): readonly string[] {
  const bytes = Buffer.from(block, 'hex')
  return decoder.decode(bytes, 0, bytes.length)
}

test('hpack: Go decodes our blocks, and we decode those of Go, with tables of changing sizes', {
  skip,
  timeout: 120_000,
}, async (t) => {
  const ask = await startGoHpack(t)
  let lists = 0
  const property = fc.asyncProperty(connection, async (made) => {
    const encoder = new Encoder()
    const decoder = new Decoder()
    await ask({ fresh: true })
    for (const [list, table, shift] of made) {
      lists++
      if (table !== undefined) encoder.resize(table)
      const ours = encode(encoder, list, shift)
      const {
        block = '',
        fields = [],
        error,
      } = await ask({ ...(table !== undefined && { table }), encode: list, decode: ours })
      assert.equal(error, undefined)
      assert.deepEqual(fields, list)
      assert.deepEqual(decode(decoder, block), list)
    }
  })
  await fc.assert(property, options)
  t.diagnostic(`seed ${options.seed}: ${lists} header lists`)
})

test('hpack: Go and we accept the same mutated blocks, and read the same from them', {
  skip,
  timeout: 120_000,
}, async (t) => {
  const ask = await startGoHpack(t)
  let accepted = 0
  const mutation = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }))
  const property = fc.asyncProperty(fields, fc.array(mutation, { maxLength: 3 }), async (list, mutations) => {
    const { block: valid = '' } = await ask({ fresh: true, encode: list })
    const bytes = Buffer.from(valid, 'hex')
    for (const [position, byte] of bytes.length > 0 ? mutations : []) bytes[position % bytes.length] = byte
    const block = bytes.toString('hex')
    const theirs = await ask({ fresh: true, decode: block })
    let ours: readonly string[] | undefined
    try {
      ours = decode(new Decoder(), block)
    } catch (error) {
      assert.ok(error instanceof ConnectionError)
      // Go ignores where a size update stands while its table is empty; §4.2 does not.
      if (/a size update follows a field/.test(error.message)) return
    }
    assert.equal(ours === undefined, theirs.error !== undefined, `${block}: ${theirs.error}`)
    if (ours) assert.deepEqual(ours, theirs.fields ?? [])
    if (ours) accepted++
  })
  await fc.assert(property, { ...options, numRuns: 4_000 })
  t.diagnostic(`seed ${options.seed}: ${accepted} of 4000 accepted`)
})
