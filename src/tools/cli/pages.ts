interface Page<Cursor> {
  readonly next?: Cursor | null
}

/** Reads page after page, until a page has no `next`. */
export async function* pages<Cursor, Read extends Page<Cursor>>(
  read: (after: Cursor | undefined) => Promise<Read>,
  first?: Cursor,
): AsyncGenerator<Read> {
  let after: Cursor | null | undefined = first
  do {
    const page: Read = await read(after)
    yield page
    after = page.next
  } while (after !== undefined && after !== null)
}
