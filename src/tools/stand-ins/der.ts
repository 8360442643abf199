// Encodes the ASN.1 types of a certificate as DER (X.690).

/** Encodes a tag, the length of the content, and the content. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content)]), content])
}

/** Encodes a length: in one byte if it is below 128, else the number of bytes followed by the bytes. */
function lengthOf({ length }: Buffer): number[] {
  if (length < 0x80) return [length]
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts)
export const set = (...parts: readonly Uint8Array[]): Buffer => der(0x31, ...parts)
export const tagged = (number: number, ...parts: readonly Uint8Array[]): Buffer => der(0xa0 + number, ...parts)
export const asn1True = der(0x01, Buffer.of(0xff))
/** Big-endian; the first bit is the sign. */
export const integer = (bytes: Uint8Array): Buffer => der(0x02, bytes)
/** A bit string of whole bytes. */
export const bits = (bytes: Uint8Array): Buffer => der(0x03, Buffer.of(0), bytes)
export const octets = (bytes: Uint8Array): Buffer => der(0x04, bytes)
export const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text))
/** UTCTime, which certificates use until 2049: resolution of a second, two digits for the year. */
export const time = (ms: number): Buffer =>
  der(
    0x17,
    Buffer.from(
      new Date(ms)
        .toISOString()
        .slice(2)
        .replaceAll(/[-:T]|\.\d+/g, ''),
    ),
  )

/** @example objectId('2.5.4.3') */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number)
  return der(0x06, Buffer.from([40 * first + second, ...others.flatMap(base128)]))
}

/** Seven bits per byte. The eighth bit is set in all bytes except the last. */
function base128(number: number): number[] {
  const bytes = [number & 0x7f]
  for (let rest = number >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80)
  return bytes
}
