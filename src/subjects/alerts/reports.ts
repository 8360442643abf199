// The reported troubles. They are in the store, so that one of several processes with the same trouble reports it.

import type { Database, Migration } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import type { Trouble } from './trouble.ts'

/** A trouble that was reported and has not ended. */
export interface Report extends Omit<Trouble, 'urgent'> {
  /** Grows while some process has the trouble. Clocks of processes are not compared. */
  readonly beat: number
}

export interface Reports {
  /** Grows the beat of these troubles. @returns all reports */
  renew(names: readonly string[]): Promise<readonly Report[]>
  /** @returns the names of the troubles that no process had reported before */
  begin(troubles: readonly Trouble[]): Promise<ReadonlySet<string>>
  /** @returns whether this call ended it: another process may have it, or may have ended it */
  end(report: Report): Promise<boolean>
}

export const alertMigrations: readonly Migration[] = [
  {
    name: 'alerts/1',
    statements: ({ key }) => [
      `create table alert_reports (
         name ${key} primary key, says text not null, remedy text not null, since bigint not null, beat bigint not null)`,
    ],
  },
]

const insertReports = statement<{ name: string }>({
  name: 'insert_alert_reports',
  columns: { name: 'text', says: 'text', remedy: 'text', since: 'bigint' },
  text: (rows) => `
    insert into alert_reports (name, says, remedy, since, beat)
    select r.name, r.says, r.remedy, r.since, 0 from ${rows} r where true
    on conflict (name) do nothing returning name`,
})

const renewReports = statement('renew_alert_reports', { name: 'text' })`
  update alert_reports set beat = beat + 1 where name in (select r.name from ${rows} r)`

const deleteReport = statement<{ name: string }>('delete_alert_report', { name: 'text', beat: 'bigint' })`
  delete from alert_reports
  where exists (select 1 from ${rows} r where r.name = alert_reports.name and r.beat = alert_reports.beat) returning name`

const selectReports = statement<Report>('select_alert_reports', {})`
  select name, says, remedy, since, beat from alert_reports`

export const storedReports = (database: Pick<Database, 'commit' | 'read'>): Reports => ({
  async renew(names) {
    if (names.length > 0) await database.commit([op(renewReports, names, (name) => [name])])
    return database.read(op(selectReports, [[]]))
  },
  async begin(troubles) {
    if (troubles.length === 0) return new Set()
    const rows = troubles.map(({ name, says, remedy, since }) => [name, says, remedy, Math.floor(since)])
    const [begun] = await database.commit([op(insertReports, rows)])
    return new Set(begun.map(({ name }) => name))
  },
  async end({ name, beat }) {
    const [ended] = await database.commit([op(deleteReport, [[name, beat]])])
    return ended.length > 0
  },
})

/** Of this process alone: for troubles that begin while the store is away. */
export function ownReports(): Reports {
  const reports = new Map<string, Report>()
  return {
    async renew(names) {
      for (const name of names) {
        const report = reports.get(name)
        if (report) reports.set(name, { ...report, beat: report.beat + 1 })
      }
      return [...reports.values()]
    },
    async begin(troubles) {
      const begun = troubles.filter(({ name }) => !reports.has(name))
      for (const { urgent: _, ...trouble } of begun) reports.set(trouble.name, { ...trouble, beat: 0 })
      return new Set(begun.map(({ name }) => name))
    },
    async end({ name }) {
      return reports.delete(name)
    },
  }
}
