import { type AuditRow, contentOf, sha256 } from './chain.ts'

/**
 * The entries of one chain behind the last entry of another: with new serials and digests, otherwise unchanged. Pure.
 *
 * @param last the last entry of the other chain
 */
export function* appendChain(
  rows: Iterable<AuditRow>,
  last: Pick<AuditRow, 'serial' | 'digest'> = { serial: 0, digest: '' },
): Generator<AuditRow> {
  let { serial, digest } = last
  for (const row of rows) {
    serial++
    digest = sha256(`${digest}{"serial":${serial},${contentOf(row)}`)
    yield { ...row, serial, digest }
  }
}
