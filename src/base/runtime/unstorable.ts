// Text that cannot be stored: PostgreSQL rejects U+0000 and lone surrogates, and SQLite would change them.

/** Thrown by the store for text that it cannot keep. Answered 400, since a retry would fail again. */
export class UnstorableText extends Error {
  override readonly name = 'UnstorableText'
  constructor(name: string) {
    super(`${name} holds U+0000 or a lone surrogate (half of a character), which cannot be stored`)
  }
}

export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
