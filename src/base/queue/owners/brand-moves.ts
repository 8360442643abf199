// The table `brand_moves`: one row in each store for each brand that left it or came to it with the command `move-brand`.
//
// state  moving      the brand is being copied to the store `other`
//        committing  the copy may be committed: the row of the other store decides
//        moved       the brand lives in the store `other`
//        received    the brand came from the store `other`
//
// In all states but `received` the brand is frozen: no process owns its lanes, and triggers refuse changes of its rows. The
// command creates the triggers, so a database that no brand ever left has none.

import { emit } from '../../runtime/events.ts'
import type { BrandTable } from '../../store/brand-table.ts'
import type { Database, Migration } from '../../store/database.ts'
import { rowsUnavailable } from '../../store/postgres-errors.ts'
import { op, statement } from '../../store/statement.ts'

export interface BrandMove {
  readonly brand: string
  /** The id of the move, the same in both stores. */
  readonly move: string
  readonly state: 'moving' | 'committing' | 'moved' | 'received'
  /** The number of the other store. */
  readonly other: number
  /** Epoch milliseconds. */
  readonly at: number
}

export const brandMoveMigration: Migration = {
  name: 'queue/owners/brand-moves',
  statements: ({ engine, key }) => [
    `create table brand_moves (
       brand ${key} primary key, move ${key} not null, state ${key} not null, other bigint not null, at bigint not null)`,
    ...(engine === 'sqlite' ? [] : [refuseChange]),
  ],
}

/** SQL: the moves that freeze their brand. */
export const freezingMoves = `(select f.brand, f.state, f.other from brand_moves f where f.state <> 'received')`

/** SQL: whether the brand of a lane is frozen. */
export const isFrozen = (lane: string): string =>
  `exists (select 1 from ${freezingMoves} f where substr(${lane}, 1, length(f.brand) + 1) = f.brand || '/')`

const selectMoves = statement<BrandMove>('brand_moves', {})`
  select m.brand, m.move, m.state, m.other, m.at from brand_moves m order by m.brand`

export const readMoves = (database: Database): Promise<readonly BrandMove[]> => database.read(op(selectMoves, [[]]))

/** Logs a change of the given moves once. */
export function createMoveLog(): (moves: readonly Pick<BrandMove, 'brand' | 'state' | 'other'>[]) => void {
  let logged = '[]'
  return (moves) => {
    const described = JSON.stringify(moves)
    if (described === logged) return
    logged = described
    for (const { brand, state, other: to } of moves)
      emit(state === 'moved' ? 'brand.moved' : 'brand.moving', { brand, to })
  }
}

/** For a process that still has the old settings. */
export const phraseMoved = (brand: string, to: number | string): string =>
  `brand ${brand} has moved to store ${to}: change its store in the setting stores, and restart this process`

// The rest is for the command that moves a brand, and for PostgreSQL only.

/** SQL with the parameters of moveValues(): replaces the row of the brand. */
export const saveMove = `
  insert into brand_moves (brand, move, state, other, at) values ($1, $2, $3, $4, $5)
  on conflict (brand) do update set move = excluded.move, state = excluded.state, other = excluded.other, at = excluded.at`
export const moveValues = ({ brand, move, state, other, at }: BrandMove): readonly unknown[] => [
  brand,
  move,
  state,
  other,
  at,
]

/** SQL with the brand as parameter. */
export const deleteMove = 'delete from brand_moves where brand = $1'

/** SQL: lets this session change the rows of frozen brands. */
export const passFreeze = "set bellwire.passes_freeze = 'on'"

// The argument is the column with the brand or lane. The row decides, because a trigger may be older than the row.
const refuseChange = `
  create function refuse_change_of_moved_brand() returns trigger language plpgsql as $$
  declare
    changed jsonb := case tg_op when 'DELETE' then to_jsonb(old) else to_jsonb(new) end;
    known brand_moves;
  begin
    select m.* into known from brand_moves m
      where m.brand = split_part(changed ->> tg_argv[0], '/', 1) and m.state <> 'received';
    if found and coalesce(current_setting('bellwire.passes_freeze', true), '') <> 'on' then
      raise exception using errcode = '${rowsUnavailable}', message = case known.state
        when 'moved' then format('${phraseMoved('%s', '%s')}', known.brand, known.other)
        else format('brand %s is being moved to store %s', known.brand, known.other) end;
    end if;
    if tg_op = 'DELETE' then return old; end if;
    return new;
  end $$`

/**
 * SQL: refuses changes of the rows of these brands, or of none. It waits for transactions that change the table, so afterwards no
 * such change is under way. It does not wait for readers.
 */
export function freezeTable(table: BrandTable, brands: readonly string[]): readonly string[] {
  const column = columnOf(table)
  if (column === undefined) return []
  return [
    ...freezeClaims(table, brands),
    trigger(table, {
      name: 'moved_brands',
      event: 'insert or update',
      row: 'new',
      column,
      brands,
    }),
    ...(table.deletedByPeople
      ? [trigger(table, { name: 'moved_brands_delete', event: 'delete', row: 'old', column, brands })]
      : []),
  ]
}

/** SQL: refuses new attempts to send messages of these brands. The attempts that are under way can still be settled. */
export function freezeClaims(table: BrandTable, brands: readonly string[]): readonly string[] {
  const column = columnOf(table)
  if (column === undefined || !table.inFlight) return []
  const only = table.inFlight('new')
  return [trigger(table, { name: 'moving_brands', event: 'insert or update', row: 'new', column, brands, only })]
}

const columnOf = ({ brand, lane, derived }: BrandTable): string | undefined => (derived ? undefined : (brand ?? lane))

interface Trigger {
  readonly name: string
  readonly event: string
  readonly row: 'old' | 'new'
  readonly column: string
  readonly brands: readonly string[]
  /** SQL: which changes are refused. Default: all. */
  readonly only?: string
}

function trigger({ table }: BrandTable, { name, event, row, column, brands, only }: Trigger): string {
  // A look-up in a JSON object takes the same time for one brand and for many. A list would be compared one by one.
  const list = JSON.stringify(Object.fromEntries(brands.map((each) => [each, 0])))
  const ofBrands = `'${list}'::jsonb ? split_part(${row}.${column}, '/', 1)${only === undefined ? '' : ` and ${only}`}`
  return `
    create or replace trigger ${name} before ${event} on ${table} for each row
    when (${brands.length === 0 ? 'false' : ofBrands})
    execute function refuse_change_of_moved_brand('${column}')`
}
