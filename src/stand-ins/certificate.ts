import { generate } from 'selfsigned'

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** A certificate for this machine, made at start. It signs itself, so it is its own authority: who trusts `cert` trusts the server. */
export async function makeCertificate(host = '127.0.0.1'): Promise<Certificate> {
  const altNames = [
    { type: 2 as const, value: 'localhost' },
    { type: 7 as const, ip: '127.0.0.1' },
    { type: 7 as const, ip: '::1' },
    ...(/^[\d.]+$|:/.test(host) ? [] : [{ type: 2 as const, value: host }]),
  ]
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'Bellwire stand-in' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames },
    ],
  })
  return { key, cert }
}
