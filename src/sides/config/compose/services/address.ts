// Converts the settings beside an address to options, and reads the files that they name.

import { createSecureContext } from 'node:tls'
import type { BrokerCertificates } from '../../../../base/brokers/certificates.ts'
import type { ServerCertificate } from '../../../../base/http/http.ts'
import type { AddressOptions, ConnectionOptions } from '../../../../base/http-client/caller.ts'
import {
  type AddressSettings,
  authOptions,
  type CertificateSettings,
  type ConnectionSettings,
} from '../../../../subjects/settings/address.ts'
import { readCa, readText, refuse } from './files.ts'

/** @param at the path of the settings: 'platform.lanes[0].to' */
export async function addressOptions(settings: AddressSettings, at: string): Promise<AddressOptions> {
  const { auth } = settings
  return { ...(await connectionOptions(settings, at)), ...(auth && { auth: authOptions(auth) }) }
}

export async function connectionOptions(settings: ConnectionSettings, at: string): Promise<ConnectionOptions> {
  const { proxy } = settings
  return { ...(proxy !== undefined && { proxy }), ...(await certificateOptions(settings, at)) }
}

/** @throws ConfigError that names the setting, if a file cannot be read or the key is not that of the certificate */
export async function certificateOptions(settings: CertificateSettings, at: string): Promise<BrokerCertificates> {
  const { clientCertificate: certificateFile, clientKey: keyFile } = settings
  const ca = await readCa(settings.ca, `${at}.ca`)
  const shared = ca === undefined ? {} : { ca }
  if (certificateFile === undefined && keyFile === undefined) return shared
  if (certificateFile === undefined || keyFile === undefined) {
    const [missing, present] =
      keyFile === undefined ? ['client_key', 'client_certificate'] : ['client_certificate', 'client_key']
    return refuse(`${at}.${missing}`, `missing, although ${present} is set`, 'set both, each to the path of a PEM file')
  }
  const clientCertificate = (await readCa(certificateFile, `${at}.client_certificate`)) as string
  const clientKey = await readText(keyFile, `${at}.client_key`, 'write the path of a PEM file with the key')
  demandPair({ cert: clientCertificate, key: clientKey }, `${at}.client_key`, keyFile)
  return { ...shared, clientCertificate, clientKey }
}

/** Reads the certificate with which a side serves HTTPS. @param at 'operator.tls' @throws ConfigError, as certificateOptions() */
export async function serverCertificate(
  tls: { readonly certificate: string; readonly key: string } | undefined,
  at: string,
): Promise<ServerCertificate | undefined> {
  if (!tls) return undefined
  const cert = (await readCa(tls.certificate, `${at}.certificate`)) as string
  const key = await readText(tls.key, `${at}.key`, 'write the path of a PEM file with the key')
  demandPair({ cert, key }, `${at}.key`, tls.key)
  return { cert, key }
}

function demandPair(pair: ServerCertificate, path: string, file: string): void {
  try {
    createSecureContext(pair)
  } catch (error) {
    const remedy = 'write the PEM file with the key of this certificate, without a passphrase'
    refuse(path, `the file ${file} does not fit the certificate: ${(error as Error).message}`, remedy)
  }
}
