// A certificate as public authorities issue it: it has only the public name of the server, and the PEM file also has its authority.

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { Certificate } from '../../src/tools/stand-ins/certificate.ts'
import {
  asn1True,
  bits,
  der,
  integer,
  objectId,
  octets,
  sequence,
  set,
  tagged,
  time,
  utf8,
} from '../../src/tools/stand-ins/der.ts'

const subjectAltName = objectId('2.5.29.17')
const basicConstraints = sequence(objectId('2.5.29.19'), asn1True, octets(sequence(asn1True)))
const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'))
const dayMs = 24 * 3_600_000

/** @example issueCertificate('push.operator.example') @param days the rest of its validity; negative: it has expired */
export function issueCertificate(name: string, days = 365): Certificate {
  const [authority, server] = [newKeys(), newKeys()]
  const issuer = nameOf('An authority of tests')
  const names = sequence(subjectAltName, octets(sequence(der(0x82, Buffer.from(name)))))
  const certificate = pemOf(contentOf(nameOf(name), issuer, server.publicKey, names, days), authority.privateKey)
  const ofAuthority = pemOf(contentOf(issuer, issuer, authority.publicKey, basicConstraints, 365), authority.privateKey)
  return {
    cert: certificate + ofAuthority,
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const nameOf = (text: string): Buffer => sequence(set(sequence(objectId('2.5.4.3'), utf8(text))))

function contentOf(subject: Buffer, issuer: Buffer, publicKey: KeyObject, extension: Buffer, days: number): Buffer {
  return sequence(
    tagged(0, integer(Buffer.of(2))), // version 3
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ecdsaWithSha256,
    issuer,
    sequence(time(Date.now() - 2 * dayMs), time(Date.now() + days * dayMs)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(extension)),
  )
}

function pemOf(content: Buffer, key: KeyObject): string {
  const signed = sequence(content, ecdsaWithSha256, bits(sign('sha256', content, key)))
  return `-----BEGIN CERTIFICATE-----\n${signed.toString('base64').replaceAll(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`
}
