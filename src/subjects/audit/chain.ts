// The chain of the audit trail: each entry has the SHA-256 digest of itself and of the digest before it. Pure, so that an exported
// file can be verified without a database, by the same rules as the rows.

import { hash } from 'node:crypto'

/** Of an entry: everything that its digest covers, except its serial. */
export interface AuditContent {
  /** Epoch milliseconds. */
  readonly at: number
  readonly act: string
  /** The name of the key. */
  readonly by: string
  readonly address: string | null
  readonly brand: string | null
  /** The digest of salt and user id. These two are not part of the chain, so that they can be erased. */
  readonly user_digest: string | null
  /** A JSON object. */
  readonly details: string | null
}

/** A stored entry. */
export interface AuditRow extends AuditContent {
  readonly serial: number
  readonly user_id: string | null
  readonly user_salt: string | null
  readonly digest: string
}

/** The entry of a deletion by retention: the serial and the digest of the last entry that was deleted. */
export interface Forgotten {
  readonly through: number
  readonly through_digest: string
}

export const forgetAct = 'audit.forget'

export const sha256 = (text: string): string => hash('sha256', text)

/** The JSON text of an entry after its serial. */
export function contentOf({ at, act, by, address, brand, user_digest, details }: AuditContent): string {
  const head = JSON.stringify({
    at: new Date(at).toISOString(),
    act,
    by,
    ...(address !== null && { address }),
    ...(brand !== null && { brand }),
    ...(user_digest !== null && { user_digest }),
  })
  return (details === null ? head : `${head.slice(0, -1)},${details.slice(1)}`).slice(1)
}

/** The text before the content of an entry. The digest is sha256(the digest before it + this text + content). */
const start = '{"serial":'
const digestMember = ',"digest":"'
const storeMember = ',"store":"'

/**
 * One line of an export. Its digest covers the members before `digest`.
 *
 * @example '{"serial":7,"at":"…","act":"lanes.pause","by":"office","digest":"…","store":"0"}'
 */
export function lineOf(row: AuditRow, store: string): string {
  const { serial, digest, user_id: user, user_salt: salt } = row
  const members = contentOf(row).slice(0, -1)
  const id = user === null ? '' : `,"user_salt":"${salt}","user":${JSON.stringify(user)}`
  return `${start}${serial},${members}${digestMember}${digest}"${id}${storeMember}${store}"}`
}

export interface ChainProblem {
  readonly store: string
  /** The serial of the entry at which the chain breaks. Absent: the whole chain. */
  readonly serial?: number
  readonly problem: string
}

export interface CheckedChain {
  readonly store: string
  readonly entries: number
  readonly first: number
  readonly last: number
  /** The digest of the last entry. */
  readonly digest: string
}

export interface CheckedChains {
  readonly chains: readonly CheckedChain[]
  /** At most 100. */
  readonly problems: readonly ChainProblem[]
  /** Expected digests that no entry has: entries at the end were removed or changed. */
  readonly missing: readonly string[]
}

/** An entry, as a row or as a line of an export. */
interface CheckedEntry {
  readonly store: string
  readonly serial: number
  /** The text that its digest covers, after the digest before it. */
  readonly text: string
  readonly digest: string
  readonly isUserChanged: boolean
  readonly forgotten: Forgotten | undefined
}

/** An entry without the one before it. It is checked last: the digest before it may be in a later entry. */
interface Start {
  readonly serial: number
  readonly text: string
  readonly digest: string
  /** The last entry before the gap. 0: none. */
  readonly after: number
}

interface Chain {
  readonly store: string
  entries: number
  readonly first: number
  last: number
  digest: string
  /** The first entry, and each one after a gap: retention may delete entries between two pages of a reader. */
  readonly starts: Start[]
  /** The digests of the last deleted entries, by serial. */
  readonly forgotten: Map<number, string>
}

const mostProblems = 100
const user = /,"user_salt":"([\w-]*)","user":("(?:[^"\\]|\\.)*")$/

/**
 * Checks the entries of each store in the order of their serials: rows, or the lines of an export.
 *
 * @example const check = createChainCheck(); for (const line of lines) check.add(line); check.end().problems.length === 0
 */
export function createChainCheck(expected: readonly string[] = []) {
  const chains = new Map<string, Chain>()
  const problems: ChainProblem[] = []
  const missing = new Set(expected)

  function report(store: string, problem: string, serial?: number): void {
    if (problems.length < mostProblems) problems.push({ store, ...(serial !== undefined && { serial }), problem })
  }

  return {
    addRow(row: AuditRow, store: string): void {
      const { serial, act, digest, user_id: id, user_salt: salt, user_digest, details } = row
      checkEntry({
        store,
        serial,
        text: `${start}${serial},${contentOf(row)}`,
        digest,
        isUserChanged: id !== null && sha256(salt + id) !== user_digest,
        forgotten: act === forgetAct ? (JSON.parse(details as string) as Forgotten) : undefined,
      })
    },
    add(line: string): void {
      const entry = readLine(line)
      if ('text' in entry) checkEntry(entry)
      else report(entry.store, `a line is not an entry: ${line.slice(0, 60)}`)
    },
    end(): CheckedChains {
      for (const chain of chains.values()) for (const start of chain.starts) checkStart(chain, start)
      const checked = [...chains.values()].map(({ starts: _starts, forgotten: _forgotten, ...chain }) => chain)
      return { chains: checked, problems, missing: [...missing] }
    },
  }

  function checkEntry({ store, serial, text, digest, isUserChanged, forgotten }: CheckedEntry): void {
    missing.delete(digest)
    const known = chains.get(store)
    const chain = known ?? newChain(store, serial, text, digest)
    if (known) checkNext(known, serial, text, digest)
    else chains.set(store, chain)
    if (isUserChanged) report(store, 'the user id was changed', serial)
    if (forgotten) chain.forgotten.set(forgotten.through, forgotten.through_digest)
  }

  function checkNext(chain: Chain, serial: number, text: string, digest: string): void {
    const { store, last } = chain
    if (serial > last + 1) chain.starts.push({ serial, text, digest, after: last })
    else if (serial <= last) report(store, 'the serial is not after the one before it: an entry was inserted', serial)
    else if (sha256(chain.digest + text) !== digest)
      report(store, 'the digest does not fit: this entry or the one before it was changed', serial)
    chain.last = serial
    chain.digest = digest
    chain.entries++
  }

  function checkStart({ store, forgotten }: Chain, { serial, text, digest, after }: Start): void {
    const before = serial === 1 ? '' : forgotten.get(serial - 1)
    if (before !== undefined) {
      if (sha256(before + text) !== digest) report(store, 'the digest does not fit: this entry was changed', serial)
    } else if (after > 0) report(store, `the entries ${after + 1} to ${serial - 1} are missing`, serial)
    else report(store, `the entries before ${serial} are missing, and retention did not delete them`, serial)
  }
}

const newChain = (store: string, serial: number, text: string, digest: string): Chain => ({
  store,
  entries: 1,
  first: serial,
  last: serial,
  digest,
  starts: [{ serial, text, digest, after: 0 }],
  forgotten: new Map(),
})

function readLine(line: string): CheckedEntry | { readonly store: string } {
  const atStore = line.lastIndexOf(storeMember)
  const atDigest = line.lastIndexOf(digestMember, atStore)
  const store = line.slice(atStore + storeMember.length, -2)
  const serial = Number.parseInt(line.slice(start.length, start.length + 16), 10)
  if (!line.startsWith(start) || atDigest < 0 || !Number.isSafeInteger(serial)) return { store }
  const text = `${line.slice(0, atDigest)}}`
  return {
    store,
    serial,
    text,
    digest: line.slice(atDigest + digestMember.length, atDigest + digestMember.length + 64),
    isUserChanged: text.includes('"user_digest":"') && isUserChanged(line.slice(atDigest, atStore), text),
    forgotten: text.includes(`"act":"${forgetAct}"`) ? (JSON.parse(text) as Forgotten) : undefined,
  }
}

/** The id of the user is not in the chain, but its digest is. */
function isUserChanged(end: string, text: string): boolean {
  const [, salt = '', id] = user.exec(end) ?? []
  return id !== undefined && !text.includes(`"user_digest":"${sha256(salt + (JSON.parse(id) as string))}"`)
}
