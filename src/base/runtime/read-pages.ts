/**
 * Reads page after page, each from after the last row of the page before. A page with fewer rows than `most` is the last one.
 *
 * @param by the member of a row that is the cursor
 * @param first the cursor before the first row
 * @example for await (const users of readPages('id', 0, 500, (after) => readUsers(after, 500))) show(users)
 */
export async function* readPages<Name extends string, Cursor, Row extends Readonly<Record<Name, Cursor>>>(
  by: Name,
  first: Cursor,
  most: number,
  read: (after: Cursor) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for (let after = first; ; ) {
    const page = await read(after)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    if (page.length < most) return
    after = last[by]
  }
}
