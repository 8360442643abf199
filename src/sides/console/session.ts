// The session of the console: an encrypted cookie with the key or the name of the person who signed in.

import { createHash } from 'node:crypto'
import { EncryptJWT, jwtDecrypt } from 'jose'
import { clock } from '../../base/runtime/clock.ts'
import { random } from '../../base/runtime/random.ts'

/** A person signs in once a working day. */
const lifetimeSeconds = 12 * 3_600
/** Most ended sessions in memory; the oldest is dropped first. */
const mostEnded = 10_000
const algorithms = { alg: 'dir', enc: 'A256GCM' } as const

/** Who signed in: by a key for /admin, by an OpenID provider, or by a trusted proxy, which names the person in each request. */
export type Identity =
  | { readonly by: 'key'; readonly key: string }
  | { readonly by: 'oidc' | 'proxy'; readonly person: string }

export type Session = Identity & {
  /** Each form of the session has this text. Another site cannot read it. */
  readonly csrf: string
}

export interface Sessions {
  /** Begins a session. @returns the text of its cookie */
  begin(identity: Identity): Promise<string>
  /** @returns undefined for a cookie that is unreadable, has expired, or was ended */
  read(cookie: string | undefined): Promise<Session | undefined>
  end(cookie: string | undefined): void
  /** Encrypts a value for a browser. @returns the text of a cookie */
  seal(content: Readonly<Record<string, string>>, seconds: number): Promise<string>
  /** @param required members of the content @returns undefined for a cookie that is unreadable or has expired */
  open<Content>(cookie: string | undefined, required: readonly (keyof Content & string)[]): Promise<Content | undefined>
}

/**
 * The server stores no session: a cookie is valid in each process of the side, and after a restart. Each request authenticates by the
 * key or the person in it, so a session ends with them. A change of the configured keys or people ends all sessions.
 *
 * @param keys the configured keys for /admin, and the people
 * @param readSecret a secret of the side that is not in its configuration
 */
export function createSessions(keys: readonly object[], readSecret: () => Promise<string>): Sessions {
  let deriving: Promise<Uint8Array> | undefined
  const secret = () =>
    (deriving ??= deriveSecret().catch((error: unknown) => {
      deriving = undefined
      throw error
    }))
  const deriveSecret = async () =>
    createHash('sha256')
      .update(`bellwire console ${await readSecret()} ${JSON.stringify(keys)}`)
      .digest()
  const ended = new Set<string>()
  const sessions: Sessions = {
    begin: (identity) => sessions.seal({ ...identity, csrf: random.bytes(16).toString('base64url') }, lifetimeSeconds),
    read: async (cookie) =>
      cookie === undefined || ended.has(cookie) ? undefined : sessions.open<Session>(cookie, ['by', 'csrf']),
    end(cookie) {
      if (cookie === undefined) return
      ended.add(cookie)
      if (ended.size > mostEnded) ended.delete(ended.values().next().value as string)
    },
    seal: async (content, seconds) =>
      new EncryptJWT(content)
        .setProtectedHeader(algorithms)
        .setExpirationTime(Math.floor(clock.now() / 1_000) + seconds)
        .encrypt(await secret()),
    async open(cookie, required) {
      if (cookie === undefined) return undefined
      const known = await secret()
      try {
        const { payload } = await jwtDecrypt(cookie, known, {
          keyManagementAlgorithms: [algorithms.alg],
          contentEncryptionAlgorithms: [algorithms.enc],
          requiredClaims: ['exp', ...required],
          currentDate: new Date(clock.now()),
        })
        return payload as never
      } catch {
        return undefined
      }
    },
  }
  return sessions
}
