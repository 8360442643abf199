import assert from 'node:assert/strict'
import test from 'node:test'
import { ConnectionError, errorCode } from '../../src/base/http2/frames.ts'
import { Decoder } from '../../src/base/http2/hpack-decoder.ts'
import { Encoder, type Indexing } from '../../src/base/http2/hpack-encoder.ts'
import { decodeHuffman } from '../../src/base/http2/huffman.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const decode = (decoder: Decoder, block: Buffer) => decoder.decode(block, 0, block.length)
const fails = (block: Buffer, code: number, decoder = new Decoder()) =>
  assert.throws(
    () => decode(decoder, block),
    (error: Error) => error instanceof ConnectionError && error.errorCode === code,
  )

function encode(encoder: Encoder, fields: readonly string[], indexing: (name: string) => Indexing = () => 'table') {
  const to = Buffer.alloc(16_384)
  let at = encoder.beginBlock(to, 0)
  for (let i = 0; i < fields.length; i += 2)
    at = encoder.writeField(to, at, fields[i] as string, fields[i + 1] as string, indexing(fields[i] as string))
  return Buffer.from(to.subarray(0, at))
}

test('the examples of RFC 7541, C.6: answers with Huffman codes and a table are decoded', () => {
  const decoder = new Decoder()
  const date = ['date', 'Mon, 21 Oct 2013 20:13:21 GMT']
  const first = hex(
    '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
  )
  assert.deepEqual(decode(decoder, first), [
    ...[':status', '302', 'cache-control', 'private', ...date],
    ...['location', 'https://www.example.com'],
  ])
  assert.deepEqual(decode(decoder, hex('4883 640e ffc1 c0bf')), [
    ...[':status', '307', 'cache-control', 'private', ...date],
    ...['location', 'https://www.example.com'],
  ])
})

test('a decoder reads the blocks of an encoder, over many blocks, evictions and table sizes', () => {
  const encoder = new Encoder()
  const decoder = new Decoder()
  for (let n = 0; n < 2_000; n++) {
    // Two sizes between two blocks: the smaller one is announced too.
    if (n % 111 === 0) encoder.resize(50)
    if (n % 37 === 0) encoder.resize([4_096, 0, 100, 65_536, 300][(n / 37) % 5] as number)
    const fields = [':method', 'POST', ':path', `/${n % 7}`, 'x-long', 'v'.repeat(n % 400), `x-${n % 50}`, `${n % 3}`]
    const block = encode(encoder, fields, (name) => (name === ':path' ? 'once' : 'table'))
    assert.deepEqual(decode(decoder, block), fields, `block ${n}`)
  }
})

test('a field that repeats takes one byte, and a value that is not indexed never enters the table', () => {
  const encoder = new Encoder()
  const fields = [':method', 'POST', 'authorization', `bearer ${'a'.repeat(200)}`, 'x-id', '1']
  const nameOnly = (name: string): Indexing => (name === 'x-id' ? 'nameOnly' : 'table')
  assert.ok(encode(encoder, fields, nameOnly).length > 200)
  // The name of x-id is an index, and its value is marked as never indexed (RFC 7541 §6.2.3).
  assert.equal(encode(encoder, [...fields.slice(0, 5), '2'], nameOnly).toString('hex'), '83bf1f2f0132')
})

test('a header block that cannot be decoded is a compression error', () => {
  const compression = errorCode.compression
  fails(hex('80'), compression) // index 0
  fails(hex('be'), compression) // index 62 of an empty table
  fails(hex('7f 02 01 61'), compression) // the index of a name that is not in the table
  fails(hex('ff ff ff ff ff 0f'), compression) // an integer that is too large
  fails(hex('00 05 61'), compression) // ends within a string
  fails(hex('00'), compression)
  fails(hex('3f e2 1f'), compression) // a table of 4,097 bytes
  fails(hex('88 20'), compression) // a size update after a field
  fails(hex('00 01 61 81 00'), compression) // Huffman padding of zeros
})

test('a small block that expands to a large header list is refused', () => {
  const decoder = new Decoder()
  const entry = Buffer.concat([hex('40 01 61 7f a1 1e'), Buffer.alloc(4_000, 'b')])
  assert.equal(decode(decoder, entry)[1]?.length, 4_000)
  fails(Buffer.alloc(100, 0xbe), errorCode.enhanceYourCalm, decoder)
})

test('Huffman codes of all bytes are decoded, and wrong padding is not', () => {
  const texts = {
    f1e3c2e5f23a6ba0ab90f4ff: 'www.example.com',
    '9d29ad171863c78f0b97c8e9ae82ae43d3': 'https://www.example.com',
  }
  for (const [code, text] of Object.entries(texts)) {
    const bytes = hex(code)
    assert.equal(decodeHuffman(bytes, 0, bytes.length), text)
  }
  assert.equal(decodeHuffman(hex('ffffffef'), 0, 4), 'ù', 'a code of 28 bits, and its padding')
  assert.equal(decodeHuffman(hex('ffffff'), 0, 3), undefined, 'a code that is cut off')
  assert.equal(decodeHuffman(hex('ff'), 0, 1), undefined, 'padding of 8 bits')
  assert.equal(decodeHuffman(hex('ffffffff'), 0, 4), undefined, 'the end of a string within it')
  assert.equal(decodeHuffman(hex('1c'), 0, 1), undefined, 'padding that is not ones')
  assert.equal(decodeHuffman(hex('1f'), 0, 1), 'a')
  assert.equal(decodeHuffman(hex(''), 0, 0), '')
})

test('of several sizes between two blocks, the smallest and the last are announced', () => {
  const encoder = new Encoder()
  for (const size of [300, 50, 4_096]) encoder.resize(size)
  assert.equal(encode(encoder, []).toString('hex'), '3f133fe11f')
  assert.equal(encode(encoder, []).toString('hex'), '')
})
