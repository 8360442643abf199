export interface Token {
  readonly text: string
  readonly brand: string
  readonly user: string
  readonly lifetimeMs: number
}

/** Whether both tokens are of the same user of the same brand. */
export const haveOneUser = (a: Token, b: Token): boolean => a.user === b.user && a.brand === b.brand

/** Reads the brand and the user of a subscriber token. Only the operator verifies the signature. */
export function readToken(text: string): Token {
  try {
    const bytes = Uint8Array.from(atob((text.split('.')[1] as string).replace(/-/g, '+').replace(/_/g, '/')), (c) =>
      c.charCodeAt(0),
    )
    const { brand, sub, exp, iat } = JSON.parse(new TextDecoder().decode(bytes))
    if (typeof brand === 'string' && typeof sub === 'string')
      return { text, brand, user: sub, lifetimeMs: (exp - (iat ?? Date.now() / 1000)) * 1000 }
  } catch {
    // The error below names the remedy.
  }
  throw new Error('getToken did not return a subscriber token: return the `token` of POST /admin/subscriber-tokens')
}
