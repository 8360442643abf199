// The Huffman code of HPACK (RFC 7541 §5.2 and Appendix B). The code is canonical, so the lengths of its codes define it. Requests
// are written without it: it saves bytes, but costs CPU.

/** The length in bits of the code of each byte, and of the end of a string. */
const lengths = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26, 30,
]
const endOfString = 256
const longest = 30

/** By the length of the codes: the first code, and the symbols in the order of their codes. */
const firstCode: number[] = []
const symbols: number[][] = []
/** By the next 8 bits: the symbol and the length of its code (symbol << 4 | length). 0: its code is longer. */
const short = new Uint16Array(256)

for (let length = 0, code = 0; length <= longest; length++, code <<= 1) {
  firstCode[length] = code
  const ofLength = lengths.flatMap((each, symbol) => (each === length ? [symbol] : []))
  symbols[length] = ofLength
  for (const symbol of ofLength) {
    if (length <= 8) short.fill((symbol << 4) | length, code << (8 - length), (code + 1) << (8 - length))
    code++
  }
}

/** @returns undefined if the bytes are not a valid code */
export function decodeHuffman(from: Buffer, start: number, end: number): string | undefined {
  const to = Buffer.allocUnsafe(Math.ceil(((end - start) * 8) / 5))
  let length = 0
  /** Unread bits, and their number. */
  let bits = 0
  let have = 0
  for (let at = start; ; ) {
    if (have < 8 && at < end) {
      bits = ((bits << 8) | (from[at++] as number)) & 0xffff
      have += 8
    }
    // At the end of the string the missing bits are ones, like the padding.
    const next = have >= 8 ? bits >>> (have - 8) : (bits << (8 - have)) | (0xff >>> have)
    const entry = short[next & 0xff] as number
    if (entry !== 0 && (entry & 15) <= have) {
      to[length++] = entry >>> 4
      have -= entry & 15
      continue
    }
    if (have < 8) return (next & 0xff) >>> (8 - have) === (1 << have) - 1 ? to.toString('latin1', 0, length) : undefined
    // The code has more than 8 bits.
    have -= 8
    let code = next & 0xff
    let symbol: number | undefined
    for (let codeLength = 9; symbol === undefined; codeLength++) {
      if (have === 0) {
        if (at === end) return undefined
        bits = from[at++] as number
        have = 8
      }
      if (codeLength > longest) return undefined
      have--
      code = (code << 1) | ((bits >>> have) & 1)
      symbol = symbols[codeLength]?.[code - (firstCode[codeLength] as number)]
    }
    if (symbol === endOfString) return undefined
    to[length++] = symbol
  }
}
