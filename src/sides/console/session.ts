// The session of the console: a cookie that contains the encrypted key of the person who signed in.

import { createHash } from 'node:crypto'
import { EncryptJWT, jwtDecrypt } from 'jose'
import { clock } from '../../base/runtime/clock.ts'
import { random } from '../../base/runtime/random.ts'

/** A person signs in once a working day. */
const lifetimeSeconds = 12 * 3_600
/** Most ended sessions in memory; the oldest is dropped first. */
const mostEnded = 10_000
const algorithms = { alg: 'dir', enc: 'A256GCM' } as const

export interface Session {
  /** The key for /admin. */
  readonly key: string
  /** Each form of the session has this text. Another site cannot read it. */
  readonly csrf: string
}

export interface Sessions {
  /** Begins a session. @returns the text of its cookie */
  begin(key: string): Promise<string>
  /** @returns undefined for a cookie that is unreadable, has expired, or was ended */
  read(cookie: string | undefined): Promise<Session | undefined>
  end(cookie: string | undefined): void
}

/**
 * The server stores no session: a cookie is valid in each process of the side, and after a restart. Each request authenticates by the
 * key in it, so a session ends with its key. A change of the configured keys ends all sessions.
 *
 * @param keys the configured keys for /admin
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
  return {
    begin: async (key) =>
      new EncryptJWT({ key, csrf: random.bytes(16).toString('base64url') })
        .setProtectedHeader(algorithms)
        .setExpirationTime(Math.floor(clock.now() / 1_000) + lifetimeSeconds)
        .encrypt(await secret()),
    async read(cookie) {
      if (cookie === undefined || ended.has(cookie)) return undefined
      const known = await secret()
      try {
        const { payload } = await jwtDecrypt<Session>(cookie, known, {
          keyManagementAlgorithms: [algorithms.alg],
          contentEncryptionAlgorithms: [algorithms.enc],
          requiredClaims: ['exp', 'key', 'csrf'],
          currentDate: new Date(clock.now()),
        })
        return payload
      } catch {
        return undefined
      }
    },
    end(cookie) {
      if (cookie === undefined) return
      ended.add(cookie)
      if (ended.size > mostEnded) ended.delete(ended.values().next().value as string)
    },
  }
}
