// Makes an X.509 certificate (RFC 5280): Node can only read certificates.

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import { asn1True, bits, der, integer, objectId, octets, sequence, set, tagged, time, utf8 } from './der.ts'

export interface Certificate {
  readonly key: string
  readonly cert: string
}

const commonName = objectId('2.5.4.3')
const subjectAltName = objectId('2.5.29.17')
const basicConstraints = objectId('2.5.29.19')
const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'))

const dayMs = 24 * 3_600_000

/**
 * Makes a self-signed certificate for this machine, valid for a year. It is its own authority: a client that trusts `cert` trusts
 * the server.
 *
 * @param host another name of the server
 */
export function makeCertificate(host = 'localhost'): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = sequence(set(sequence(commonName, utf8('Bellwire stand-in'))))
  const content = sequence(
    tagged(0, integer(Buffer.of(2))), // version 3
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ecdsaWithSha256,
    issuer,
    sequence(time(Date.now() - dayMs), time(Date.now() + 365 * dayMs)),
    issuer, // and subject
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(
      3,
      sequence(
        sequence(basicConstraints, asn1True, octets(sequence(asn1True))), // critical: an authority
        sequence(subjectAltName, octets(names(host))),
      ),
    ),
  )
  const signed = sequence(content, ecdsaWithSha256, bits(sign('sha256', content, privateKey)))
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, cert: pem(signed) }
}

function names(host: string): Buffer {
  const hosts = new Set(['localhost', ...(isIP(host) === 0 ? [host] : [])])
  const loopback = [Buffer.of(127, 0, 0, 1), Buffer.from([...new Array(15).fill(0), 1])]
  return sequence(
    ...[...hosts].map((name) => der(0x82, Buffer.from(name))),
    ...loopback.map((address) => der(0x87, address)),
  )
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
