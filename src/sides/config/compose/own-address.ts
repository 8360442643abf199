import { X509Certificate } from 'node:crypto'
import { localUrl } from './local-url.ts'
import { readCa } from './services/files.ts'

/** How this machine reaches a side of its own. */
export interface OwnAddress {
  readonly url: string
  /** The certificate of the side. It has the public name, and not that of `url`, and may be self-signed. */
  readonly pinned?: string
}

/** @throws ConfigError that names the setting, if the file of the certificate cannot be read */
export async function ownAddress(
  side: 'operator' | 'platform',
  listening: Parameters<typeof localUrl>[0] & { readonly tls?: { readonly certificate: string } | undefined },
): Promise<OwnAddress> {
  const url = localUrl(listening)
  const chain = await readCa(listening.tls?.certificate, `${side}.tls.certificate`)
  return chain === undefined ? { url } : { url, pinned: new X509Certificate(chain).toString() }
}
