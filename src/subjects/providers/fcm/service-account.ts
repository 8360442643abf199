import type { KeyObject } from 'node:crypto'
import { readPastedJson, readPrivateKey } from '../private-key.ts'

/** The members of the Firebase console's JSON file that Bellwire needs. */
export interface ServiceAccount {
  readonly project_id: string
  readonly client_email: string
  readonly private_key: string
  readonly private_key_id?: string
  readonly token_uri?: string
}

export const defaultTokenUri = 'https://oauth2.googleapis.com/token'

/**
 * Reads a service account: the text of its file, or the parsed JSON.
 *
 * @throws an error with the fault and the remedy, without any part of the file
 */
export function readServiceAccount(given: unknown): ServiceAccount {
  const account = (typeof given === 'string' ? parse(given) : given) as Unchecked | null | undefined
  if (typeof account !== 'object' || account === null) throw new Error(`not a service account: ${howToGet}`)
  if ('project_info' in account) throw new Error(`this is google-services.json, a file for the app: ${howToGet}`)
  if (account.type !== undefined && account.type !== 'service_account')
    throw new Error(`not a service account, but a credential of another type: ${howToGet}`)
  for (const name of ['project_id', 'client_email', 'private_key'] as const) {
    if (typeof account[name] !== 'string' || account[name] === '') throw new Error(`${name} is missing: ${howToGet}`)
  }
  const { token_uri: tokenUri } = account
  if (tokenUri !== undefined && (typeof tokenUri !== 'string' || !URL.canParse(tokenUri)))
    throw new Error(`token_uri is not a URL: ${howToGet}`)
  signingKey(account.private_key as string)
  return account as ServiceAccount
}

type Unchecked = Partial<Record<keyof ServiceAccount | 'type', unknown>>

function parse(text: string): unknown {
  if (text.trim() === '') throw new Error(`the file is empty: ${howToGet}`)
  if (text.includes('<plist')) throw new Error(`this is GoogleService-Info.plist, a file for the app: ${howToGet}`)
  const json = readPastedJson(text)
  if (json !== undefined) return json
  throw new Error(
    text.includes('{')
      ? `not a JSON object: ${howToGet}`
      : `not a JSON object: pass the text of the file, not its path, or ${howToGet}`,
  )
}

/** @throws an error that does not repeat the key */
export function signingKey(text: string): KeyObject {
  let key: KeyObject
  try {
    key = readPrivateKey(text)
  } catch (error) {
    throw new Error(`private_key cannot be read: ${(error as Error).message}`)
  }
  if (key.asymmetricKeyType !== 'rsa') throw new Error(`private_key is not an RSA key: ${howToGet}`)
  return key
}

const howToGet = 'download a new one in the Firebase console under Project settings, Service accounts'
