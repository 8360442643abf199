// A person's notifications in the inbox, with their marks.

import type { PersonPart } from '../../base/people/person-data.ts'
import { readPages } from '../../base/runtime/read-pages.ts'
import { op, statement } from '../../base/store/statement.ts'
import { eraseNotifications, type Row, shownColumns } from './store.ts'

const pageRows = 500

export const inboxPersonPart: PersonPart = {
  name: 'inbox',
  tables: [
    { table: 'inbox', deleted: true },
    { table: 'inbox_users', deleted: true },
  ],
  read: (database, { brand, userId }) =>
    readPages('seq', 0, pageRows, (after) => database.read(op(selectOfPerson, [[brand, userId, after, pageRows]]))),
  async erase(database, { brand, userId, at }) {
    return { erased: await eraseNotifications(database, brand, userId, at), waiting: 0 }
  },
}

const selectOfPerson = statement<Row>({
  name: 'inbox_of_person',
  columns: { brand: 'text', user_id: 'text', after: 'bigint', most: 'bigint' },
  text: (rows) => `
    select ${shownColumns.join(', ')}
    from ${rows} r join inbox i on i.brand = r.brand and i.user_id = r.user_id and i.seq > r.after
    order by i.seq limit (select max(m.most) from ${rows} m)`,
})
