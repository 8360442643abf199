// The numbers of items when the brands live in several databases: each store has a range of numbers of its own, so that a number
// names one item. The store with the number 2 has the items from 20,000,000,000,001 on.

import type { Migration } from '../store/database.ts'

/** At 20,000 messages a second, the numbers of a store last for 15 years. */
const numbersOfStore = 10 ** 13

export const storeOfNumber = (seq: number): number => Math.floor(seq / numbersOfStore)

/** The number before the first item of a store. */
export const numberBefore = (store: number): number => store * numbersOfStore

/**
 * Gives a database its range of numbers. Its name in the table `migrations` keeps two stores from exchanging their databases, and
 * one database from being two stores under two addresses.
 */
export function numberingMigration(store: number): Migration {
  const hasItems = store === 0 ? '' : ' or exists (select from items)'
  return {
    name: `queue/store-${store}`,
    statements: ({ engine }) =>
      engine === 'sqlite'
        ? []
        : [
            `do $$ begin
               if exists (select from migrations where name like 'queue/store-%')${hasItems} then
                 raise exception 'this database cannot be store ${store}: it is another store, or has messages already. Give store ${store} the address that it had before, or an empty database';
               end if;
             end $$`,
            ...(store === 0 ? [] : [`alter table items alter column seq restart with ${numberBefore(store) + 1}`]),
          ],
  }
}
