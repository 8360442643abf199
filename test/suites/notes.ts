// A table for rows that must be committed together with a settle or a device event, or not at all.

import type { Migration } from '../../src/base/store/database.ts'
import { rows, statement } from '../../src/base/store/statement.ts'

export const notes: Migration = {
  name: 'notes/1',
  statements: () => ["create table notes (note text not null check (note <> 'bad'))"],
}

export const insertNote = statement('insert_note', { note: 'text' })`
  insert into notes (note) select r.note from ${rows} r`

export const selectNotes = statement<{ note: string }>('notes', {})`select note from notes`
