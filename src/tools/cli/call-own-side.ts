// One request to a side of the configuration, which runs on this machine.

import { type CallRequest, createCaller } from '../../base/http-client/caller.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import type { SideName } from '../../sides/admin/calls.ts'
import { ownAddress } from '../../sides/config/compose/own-address.ts'

export interface OwnAnswer {
  /** Host and port. */
  readonly address: string
  readonly status: number
  readonly text: string
}

/** The side did not answer. The message has the reason and the remedy. */
export class NotAnswered extends Error {
  readonly url: string
  /** Nothing listens at the address. */
  readonly isRefused: boolean
  /** It answers HTTPS with a certificate that is not accepted. */
  readonly isOfCertificate: boolean

  constructor(side: SideName, url: string, lost: Error & { readonly code?: string }) {
    const { code = '' } = lost
    super(
      otherCertificate.has(code)
        ? `its certificate is not that of ${side}.tls.certificate; reload the configuration of the ${side}`
        : code.startsWith('CERT_')
          ? `its certificate is refused: ${messageOf(lost)}`
          : messageOf(lost),
      { cause: lost },
    )
    this.url = url
    this.isRefused = code === 'ECONNREFUSED'
    this.isOfCertificate = otherCertificate.has(code) || code.startsWith('CERT_')
  }
}

/** The errors of OpenSSL about a certificate that is not the pinned one. */
const otherCertificate: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

const mostBytes = 16_777_216

/** @throws NotAnswered */
export async function callOwnSide(
  side: SideName,
  listening: Parameters<typeof ownAddress>[1],
  request: Omit<CallRequest, 'most'>,
): Promise<OwnAnswer> {
  const address = await ownAddress(side, listening)
  const caller = createCaller(address)
  try {
    const answer = await caller.call({ ...request, most: mostBytes })
    if ('lost' in answer) throw new NotAnswered(side, address.url, answer.lost)
    return { address: new URL(address.url).host, status: answer.status, text: answer.body.toString() }
  } finally {
    await caller.destroy()
  }
}
