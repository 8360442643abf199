// A CSV or NDJSON file of users and their attributes: the simplest source, and a good one to start with.

import { readFile, stat } from 'node:fs/promises'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { sleep } from '../../base/runtime/sleep.ts'
import type { AttributeSource, Field } from './attribute-source.ts'
import { chunksOf } from './id-chunks.ts'
import { findShrinkage, holdsInEither } from './shrunk-list.ts'
import { readUserList, type UserList } from './user-list.ts'

/** A file is at rest if it has not changed for this long: another program may still be writing it. */
const restMs = 300
/** The longest wait of a look-up for a file that is being written. After it, the last list stays in force. */
const waitMs = 1_000
/** After this long, look-ups of a file that never rests fail. */
const restlessMs = 60_000
const reportEveryMs = 60_000

interface FileState {
  readonly version: string
  readonly writtenAt: Date
}

/** A list that has shrunk implausibly. */
interface HeldList {
  readonly list: UserList
  readonly why: string
  /** The version of the confirmation file when the list was read. */
  readonly confirmation: string | undefined
}

/**
 * Reads a file with the columns user_id, brand (optional if `brand` is given here) and any of the nine fields of §2.5, each
 * true or false. The file is read again whenever it has changed and is at rest. While it cannot be read, every message becomes
 * fatal. A look-up for a brand without a user in the file fails.
 *
 * A file that has lost more than a fifth of its users, or of its blocked or excluded users, is not believed: the missing users
 * keep their last values, until a person confirms the file with `touch PATH.confirmed`.
 *
 * @example await fileSource('./users.csv', { brand: '1' })
 * // user_id,blocked,excluded
 * // 1001,false,true
 */
export async function fileSource(
  path: string,
  { brand: onlyBrand }: { readonly brand?: string } = {},
): Promise<AttributeSource> {
  let seen: FileState = { version: '', writtenAt: new Date(0) }
  let last: UserList | undefined
  let lastWrittenAt = 0
  let held: HeldList | undefined
  let watched = { version: '', since: 0 }
  let changingSince: number | undefined
  let reading: Promise<void> | undefined
  let reportedAt = Number.NEGATIVE_INFINITY

  function isAtRest({ version, writtenAt }: FileState): boolean {
    const now = clock.monotonic()
    if (watched.version !== version) watched = { version, since: now }
    return now - watched.since >= restMs || clock.now() - writtenAt.getTime() >= restMs
  }

  async function read(state: FileState): Promise<void> {
    const text = await readFile(path, 'utf8')
    if ((await stateOf(path)).version !== state.version) return // it has changed while it was read
    changingSince = undefined
    const next = readUserList(text, path, onlyBrand)
    // The send path requests the fields that the file had at the start, so a missing column must not read as an empty list.
    const missing = (last?.fields ?? []).filter((field) => !next.fields.includes(field))
    if (missing.length > 0)
      throw new Error(`${path} no longer has the column ${missing.join(', ')}: restore it, or restart this process`)
    seen = state
    const list = { ...next, fields: last?.fields ?? next.fields }
    const why = last && findShrinkage(last, list)
    held = why === undefined ? undefined : { list, why, confirmation: await confirmation() }
    if (!held) accept(list)
  }

  function accept(list: UserList): void {
    last = list
    lastWrittenAt = seen.writtenAt.getTime()
    emit('suppression.accepted', { source: `file ${path}` })
  }

  async function confirmation(): Promise<string | undefined> {
    return stateOf(`${path}.confirmed`).then(
      ({ version }) => version,
      () => undefined,
    )
  }

  async function current(): Promise<UserList> {
    for (;;) {
      const state = await stateOf(path)
      if (state.version === seen.version && last) {
        changingSince = undefined
        break
      }
      changingSince ??= clock.monotonic()
      const changingForMs = clock.monotonic() - changingSince
      if (reading || isAtRest(state)) {
        reading ??= read(state).finally(() => {
          reading = undefined
        })
        await reading
      } else if (changingForMs > restlessMs) throw new Error(`${path} has been changing for a minute: write it at once`)
      else if (changingForMs > waitMs && last) break
      else await sleep(restMs / 6)
    }
    if (held) await checkConfirmation(held)
    return last
  }

  async function checkConfirmation({ list, why, confirmation: before }: HeldList): Promise<void> {
    const now = await confirmation()
    if (now !== undefined && now !== before) {
      held = undefined
      accept(list)
    } else if (clock.monotonic() - reportedAt >= reportEveryMs) {
      reportedAt = clock.monotonic()
      emit('suppression.held', { source: `file ${path}`, why, remedy: `if it is right: touch ${path}.confirmed` })
    }
  }

  /** An error, because an empty answer would claim that nobody is excluded. */
  function demandBrand(brand: string, list: UserList): void {
    if (!list.users.has(brand) && !held?.list.users.has(brand))
      throw new Error(`${path} has no users of brand ${brand}: add them, or configure another source for that brand`)
  }

  const { fields } = await current()
  return {
    name: `file ${path}`,
    fields,
    async among(brand, userIds, requested, { noteAsOf }) {
      const list = await current()
      demandBrand(brand, list)
      noteAsOf?.(lastWrittenAt)
      const next = held?.list ?? list
      return new Map(
        requested.map((field) => [
          field,
          new Set(userIds.filter((user) => holdsInEither(list, next, field, brand, user))),
        ]),
      )
    },
    async all(brand: string, field: Field) {
      const list = await current()
      demandBrand(brand, list)
      if (held) throw new Error(`${path} is not confirmed: ${held.why}`)
      return { timestamp: seen.writtenAt.toISOString(), chunks: chunksOf(list.holders.get(`${field} ${brand}`) ?? []) }
    },
  }
}

async function stateOf(path: string): Promise<FileState> {
  const { mtimeNs, size, ino, mtime } = await stat(path, { bigint: true })
  return { version: `${mtimeNs} ${size} ${ino}`, writtenAt: mtime }
}
