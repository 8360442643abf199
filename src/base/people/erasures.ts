// The tables of erasures.
//
// erasures        one row for each request to erase a person. While it runs it has the user id, afterwards only a digest.
// person_secrets  the secret of the digests of each brand, created with its first erasure or revocation. It moves with the brand.

import { clock } from '../runtime/clock.ts'
import { firstUuidv7, uuidv7 } from '../runtime/ids.ts'
import { random } from '../runtime/random.ts'
import { readPages } from '../runtime/read-pages.ts'
import type { Database, Migration, Op } from '../store/database.ts'
import { forgetOld } from '../store/forget-old.ts'
import { op, rows, statement } from '../store/statement.ts'
import { createWokenLoop } from '../store/woken-loop.ts'
import { type ErasedPerson, erasedPerson, type Person } from './digest.ts'
import type { PersonPart } from './person-data.ts'

export const peopleMigrations: readonly Migration[] = [
  {
    name: 'people/1',
    statements: ({ key }) => [
      `create table person_secrets (brand ${key} primary key, secret text not null)`,
      `create table erasures (
         id ${key} primary key, brand ${key} not null, user_id ${key}, digest ${key} not null, at bigint not null,
         requested_by text not null, done_at bigint, counts text not null, waiting bigint not null)`,
      `create index erasures_open on erasures (id) where done_at is null`,
    ],
    brandTables: [
      { table: 'person_secrets', brand: 'brand' },
      { table: 'erasures', brand: 'brand' },
    ],
  },
]

/** A row of the table. Times are epoch milliseconds. */
export interface Erasure {
  readonly id: string
  readonly brand: string
  /** Null: it is done. */
  readonly user_id: string | null
  readonly digest: string
  readonly at: number
  readonly requested_by: string
  readonly done_at: number | null
  /** JSON: the number of erased rows of each part. */
  readonly counts: string
  /** Rows that cannot be erased yet. */
  readonly waiting: number
}

const columns = 'e.id, e.brand, e.user_id, e.digest, e.at, e.requested_by, e.done_at, e.counts, e.waiting'

const insertSecret = statement('insert_person_secret', { brand: 'text', secret: 'text' })`
  insert into person_secrets (brand, secret) select r.brand, r.secret from ${rows} r where true
  on conflict (brand) do nothing`

const selectSecret = statement<{ secret: string }>('select_person_secret', { brand: 'text' })`
  select s.secret from ${rows} r join person_secrets s on s.brand = r.brand`

const insertErasure = statement({
  name: 'request_erasure',
  columns: { id: 'text', brand: 'text', user_id: 'text', digest: 'text', at: 'bigint', by: 'text' },
  text: (rows) => `
    insert into erasures (id, brand, user_id, digest, at, requested_by, counts, waiting)
    select r.id, r.brand, r.user_id, r.digest, r.at, r.by, '{}', 0 from ${rows} r`,
})

const updateErasure = statement('note_erasure', { id: 'text', counts: 'text', waiting: 'bigint' })`
  update erasures set counts = r.counts, waiting = r.waiting from ${rows} r where erasures.id = r.id`

const endErasure = statement('end_erasure', { id: 'text', done_at: 'bigint' })`
  update erasures set user_id = null, done_at = r.done_at from ${rows} r where erasures.id = r.id`

const selectErasure = statement<Erasure>('find_erasure', { id: 'text' }, { route: 'id' })`
  select ${columns} from ${rows} r join erasures e on e.id = r.id`

const selectOpen = statement<Erasure>('open_erasures', { after: 'text', most: 'bigint' })`
  select ${columns} from erasures e where e.done_at is null and e.id > (select r.after from ${rows} r)
  order by e.id limit (select r.most from ${rows} r)`

/** An erasure without the user id. With the secret of the brand, it can be tested whether a user was erased. */
export type ListedErasure = Pick<Erasure, 'id' | 'brand' | 'digest' | 'at'> & { readonly secret: string }

const selectLater = statement<ListedErasure>('later_erasures', { after: 'text' })`
  select e.id, e.brand, e.digest, e.at, s.secret from ${rows} r
  join erasures e on e.id > r.after join person_secrets s on s.brand = e.brand order by e.id`

// Few rows: there are fewer erasures than people.
const selectOfPerson = statement<Erasure>('erasures_of_person', { brand: 'text', digest: 'text' })`
  select ${columns} from ${rows} r cross join erasures e where e.brand = r.brand and e.digest = r.digest order by e.id`

/** The end of an erasure overwrites the user id. The export shows whether and when the person was erased. */
export const erasurePersonPart: PersonPart = {
  name: 'erasures',
  tables: [
    { table: 'person_secrets', impersonal: ['brand', 'secret'] },
    {
      table: 'erasures',
      digest: ['digest'],
      emptied: ['user_id'],
      impersonal: ['id', 'brand', 'at', 'requested_by', 'done_at', 'counts', 'waiting'],
    },
  ],
  isRecord: true,
  async *read(database, { brand, userId }) {
    const [row] = await database.read(op(selectSecret, [[brand]]))
    if (!row) return
    const { userDigest } = erasedPerson({ brand, userId }, row.secret, 0)
    yield await database.read(op(selectOfPerson, [[brand, userDigest]]))
  },
  erase: async () => ({ erased: 0, waiting: 0 }),
}

/** An erasure is kept as long as the messages whose repetitions it must recognize. */
export const forgetErasures = forgetOld({
  table: 'erasures',
  key: 'id',
  age: 'id',
  unit: 'id',
  where: () => 'o.done_at is not null',
})

export const erasureTopic = 'erasures'

/** Stores the secret of a brand that has none. */
export async function createSecret(database: Database, brand: string, secret: string): Promise<void> {
  await database.commit([op(insertSecret, [[brand, secret]])])
}

/** The secret of the digests of a brand. Creates it if it is missing. */
export async function secretOf(database: Database, brand: string): Promise<string> {
  await createSecret(database, brand, random.bytes(32).toString('base64url'))
  const [row] = await database.read(op(selectSecret, [[brand]]))
  if (!row) throw new Error(`brand ${brand} has no secret of digests`)
  return row.secret
}

/**
 * Requests the erasure of a person.
 *
 * @param also returns operations for the same commit, whose rows are from before the erasure
 * @returns its id
 */
export async function requestErasure(
  database: Database,
  person: Person,
  by: string,
  also: () => readonly Op[] = () => [],
): Promise<string> {
  const { brand, userId } = person
  const secret = await secretOf(database, brand)
  const ops = also()
  const [id, at] = [uuidv7(), clock.now()]
  const { userDigest } = erasedPerson(person, secret, at)
  await database.commit([
    op(insertErasure, [[id, brand, userId, userDigest, at, by]]),
    ...ops,
    database.wake(erasureTopic),
  ])
  return id
}

export const findErasure = async (database: Database, id: string): Promise<Erasure | undefined> =>
  (await database.readMerged(op(selectErasure, [[id]])))[0]

/** All erasures, the oldest first. */
export const listErasures = (database: Database): Promise<readonly ListedErasure[]> =>
  database.read(op(selectLater, [['']]))

const pageErasures = 100

/** The erasures that are not done, the oldest first, page by page. */
export const readOpenErasures = (database: Database): AsyncGenerator<readonly Erasure[]> =>
  readPages('id', '', pageErasures, (after) => database.read(op(selectOpen, [[after, pageErasures]])))

export const personOf = async (database: Database, { brand, at }: Erasure, userId: string): Promise<ErasedPerson> =>
  erasedPerson({ brand, userId }, await secretOf(database, brand), at)

export async function noteErasure(database: Database, { id }: Erasure, counts: string, waiting: number): Promise<void> {
  await database.commit([op(updateErasure, [[id, counts, waiting]])])
}

export async function completeErasure(database: Database, { id }: Erasure): Promise<void> {
  await database.commit([op(endErasure, [[id, clock.now()]])])
}

/** The erased people of a store, in memory: events that arrive later are compared with them. */
export interface ErasedPeople {
  /** Undefined: the user was not erased. */
  find(brand: string, userId: string): ErasedPerson | undefined
  stop(): Promise<void>
}

/** For a store in which nobody is ever erased. */
export const nobodyErased: ErasedPeople = { find: () => undefined, stop: async () => {} }

/** On PostgreSQL, another process requests erasures too. A notification may be lost. */
const refreshMs = 5_000
/** A commit may become visible after a later one. */
const overlapMs = 60_000

export async function openErasedPeople(database: Database): Promise<ErasedPeople> {
  const brands = new Map<string, { readonly secret: string; readonly times: Map<string, number> }>()
  let after = ''
  async function refresh(): Promise<void> {
    const began = clock.now()
    for (const { brand, digest, at, secret } of await database.read(op(selectLater, [[after]]))) {
      const ofBrand = brands.get(brand) ?? { secret, times: new Map() }
      brands.set(brand, ofBrand)
      ofBrand.times.set(digest, Math.max(at, ofBrand.times.get(digest) ?? 0))
    }
    after = firstUuidv7(began - overlapMs)
  }
  const loop = createWokenLoop('erased people', [database], erasureTopic, async () => {
    await refresh()
    return database.engine === 'postgres' ? refreshMs : Number.POSITIVE_INFINITY
  })
  // A store that is away now is read as soon as it is back.
  await refresh().catch(() => {})
  loop.start()
  return {
    find(brand, userId) {
      const ofBrand = brands.get(brand)
      if (!ofBrand) return undefined
      const person = erasedPerson({ brand, userId }, ofBrand.secret, 0)
      const at = ofBrand.times.get(person.userDigest)
      return at === undefined ? undefined : { ...person, at }
    },
    stop: loop.stop,
  }
}
