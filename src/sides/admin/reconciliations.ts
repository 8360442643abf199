// The routes under /admin/reconciliations: request, list, acknowledge and export runs, and correct discrepancies.

import { Type } from 'typebox'
import { columnsOf } from '../../base/http/csv.ts'
import { HttpError } from '../../base/http/http.ts'
import { phraseCount } from '../../base/runtime/phrase-count.ts'
import type { Database } from '../../base/store/database.ts'
import { brandNumber, limitOf, nullable, text, textOf, whole } from '../../contract/documents/described.ts'
import { reconciliationFields } from '../../contract/records.ts'
import { shown } from '../../contract/shown.ts'
import {
  applyCorrection,
  type CorrectionKind,
  listCorrections,
  previewCorrection,
} from '../../subjects/reconcile/corrections.ts'
import { protections } from '../../subjects/reconcile/crm/protections.ts'
import { listDiscrepancies, readAllDiscrepancies } from '../../subjects/reconcile/discrepancies.ts'
import type { ReconciliationOptions } from '../../subjects/reconcile/options.ts'
import {
  acknowledgeRun,
  listRuns,
  type ReconciliationRun,
  readLatestRuns,
  readRun,
  requestRun,
} from '../../subjects/reconcile/runs.ts'
import { demandLift } from './lift.ts'
import type { AdminCaller } from './request-audit.ts'
import { liftReason, ReasonBody, ReconciliationBody } from './requests.ts'
import { adminRoute } from './route.ts'
import { sendCsv, sendFile } from './send-file.ts'
import { ShownDiscrepancy, shownDiscrepancy } from './shown/discrepancy.ts'
import { ShownRun, shownRun } from './shown/run.ts'
import { isBrandVisible } from './visibility.ts'

const what = Type.Enum(['tighten', 'loosen'])
const Correction = Type.Object({
  correction: Type.String(),
  what,
  at: Type.String({ format: 'date-time' }),
  by: Type.String(),
  applied: nullable(whole('null: the correction was interrupted and can be requested again')),
  skipped: nullable(whole('Users whose value changed since the run, or whose id the CRM cannot store')),
})

const RunName = Type.Object({ run: text('The name of the run.') })

const maxRuns = 1_000
const maxDiscrepancies = 10_000

export interface ReconciliationStores {
  readonly databases: readonly Database[]
  /** The database of a brand. */
  readonly databaseOf: (brand: string) => Database
}

export function reconciliationRoutes(
  { databases, databaseOf }: ReconciliationStores,
  configured: readonly ReconciliationOptions[],
) {
  return {
    start: adminRoute({
      says: 'Starts a run: the operator lists the users of a field, and the list is compared with the CRM.',
      body: ReconciliationBody,
      gives: Type.Object({
        ...ShownRun.properties,
        fresh: Type.Boolean({ description: 'false: this run was already in progress' }),
      }),
      refuses: { 404: 'The brand or the field is not reconciled, or this key may not see the brand.' },
      async handler(request, key) {
        const { brand, field, any_size: anySize = false } = request.body
        const id = String(brand)
        const options = configured.filter((each) => each.brand === id && isBrandVisible(key, each.brand))
        if (options.length === 0)
          throw new HttpError(404, `brand ${shown(brand)} has no operator here: add it to platform.reconciliation`)
        const fields = options.flatMap((each) => each.fields)
        if (!fields.includes(field))
          throw new HttpError(404, `${shown(field)} is not reconciled: use ${fields.join(', ')}`)
        const database = databaseOf(id)
        const created = await requestRun(database, id, field, key.name, anySize, key.audit.ops())
        if (created !== undefined)
          return { ...shownRun((await readRun(database, created)) as ReconciliationRun), fresh: true }
        const { last } = await readLatestRuns(database, id, field)
        return { ...shownRun(last as ReconciliationRun), fresh: false }
      },
    }),
    list: adminRoute({
      says: 'Lists the runs, newest first, page by page.',
      query: Type.Object({
        brand: Type.Optional(brandNumber('The number of the brand.')),
        field: Type.Optional(Type.Enum([...reconciliationFields], { description: 'The field.' })),
        limit: Type.Optional(limitOf(maxRuns)),
        after: Type.Optional(text('The `next` of the previous page.')),
      }),
      gives: Type.Object({ runs: Type.Array(ShownRun), next: nullable(Type.String()) }),
      async handler(request, key) {
        const { brand, field, after, limit: pageSize = 100 } = request.query
        const brands = [...new Set(configured.map((each) => each.brand))].filter(
          (each) => isBrandVisible(key, each) && (brand === undefined || brand === each),
        )
        const pages = [...Map.groupBy(brands, databaseOf)].map(([database, own]) =>
          listRuns(database, own, field, after, pageSize),
        )
        const runs = (await Promise.all(pages))
          .flat()
          .sort((a, b) => (a.run > b.run ? -1 : 1))
          .slice(0, pageSize)
        return { runs: runs.map(shownRun), next: (runs.length === pageSize && runs.at(-1)?.run) || null }
      },
    }),
    show: adminRoute({
      says: 'Shows one run and its corrections.',
      params: RunName,
      gives: Type.Object({ ...ShownRun.properties, corrections: Type.Array(Correction) }),
      async handler(request, key) {
        const run = await readRequestedRun(request.params.run, key)
        return { ...shownRun(run), corrections: await listCorrections(databaseOf(run.brand), run) }
      },
    }),
    listUsers: adminRoute({
      says: 'Lists the discrepancies of a run, page by page.',
      params: RunName,
      query: Type.Object({
        limit: Type.Optional(limitOf(maxDiscrepancies)),
        after: Type.Optional(whole('The `next` of the previous page.')),
      }),
      gives: Type.Object({ discrepancies: Type.Array(ShownDiscrepancy), next: nullable(whole()) }),
      async handler(request, key) {
        const run = await readRequestedRun(request.params.run, key)
        const { after = 0, limit: pageSize = 100 } = request.query
        const found = await listDiscrepancies(databaseOf(run.brand), run, after, pageSize)
        const next = found.length === pageSize ? (found.at(-1)?.n ?? null) : null
        return { discrepancies: found.map(shownDiscrepancy), next }
      },
    }),
    exportDiscrepancies: adminRoute({
      says: 'Returns all discrepancies of a run as a file.',
      params: RunName,
      query: Type.Object({
        format: Type.Optional(Type.Enum(['ndjson', 'csv'], { description: 'Default: ndjson.' })),
      }),
      files: {
        ...textOf('application/x-ndjson', 'One discrepancy per line'),
        ...textOf('text/csv', 'A header line, then one discrepancy per line'),
      },
      async handler(request, key, reply) {
        const run = await readRequestedRun(request.params.run, key)
        const pages = readShown(databaseOf(run.brand), run)
        const name = `reconciliation-${run.brand}-${run.field}-${run.run}`
        if (request.query.format === 'csv') return sendCsv(reply, name, columns, pages)
        return sendFile(reply, `${name}.ndjson`, 'application/x-ndjson', writeLines(pages))
      },
    }),
    acknowledge: adminRoute({
      says: 'Acknowledges the result of a run.',
      params: RunName,
      body: ReasonBody,
      gives: ShownRun,
      async handler(request, key) {
        const run = await readRequestedRun(request.params.run, key)
        const database = databaseOf(run.brand)
        await acknowledgeRun(database, run.brand, run.run, key.name, key.audit.ops())
        return shownRun((await readRun(database, run.run)) as ReconciliationRun)
      },
    }),
    correct: adminRoute({
      says: "Changes the CRM's values to the operator's: tighten takes rights away, loosen gives them back and must be confirmed.",
      params: RunName,
      body: Type.Object({
        what: Type.Optional(
          Type.Enum(['tighten', 'loosen'], {
            default: 'tighten',
            description: 'tighten: block, exclude, deactivate, withdraw consent. loosen: the opposite.',
          }),
        ),
        preview: Type.Optional(Type.Boolean({ description: 'true: only return what would change' })),
        confirm: Type.Optional(Type.Integer({ description: 'The count of the preview; required for loosen' })),
        reason: liftReason,
      }),
      gives: Type.Union([
        Type.Object({ correction: Type.String(), applied: whole(), skipped: whole() }),
        Type.Object(
          { what, count: whole(), sets: Type.String(), sample: Type.Array(Type.String()) },
          { description: 'A preview' },
        ),
      ]),
      refuses: {
        409: 'The correction loosens and is not confirmed with the count of its preview, or there is a newer run.',
      },
      async handler(request, key) {
        const run = await readRequestedRun(request.params.run, key)
        const { what = 'tighten', preview = false, confirm, reason } = request.body
        if (preview) return previewCorrection(databaseOf(run.brand), run, what)
        if (what === 'loosen') {
          await demandConfirmation(run, what, confirm)
          const ended = protections.find((field) => field === run.field)
          if (ended) demandLift(key, reason, `this ends ${ended}`)
        }
        return applyCorrection(databaseOf(run.brand), run, what, key.name, (count) => key.audit.ops({ count }))
      },
    }),
  }

  async function readRequestedRun(name: string, key: AdminCaller): Promise<ReconciliationRun> {
    const read = await Promise.allSettled(databases.map((database) => readRun(database, name)))
    const run = read.map((each) => (each.status === 'fulfilled' ? each.value : undefined)).find(Boolean)
    if (run && isBrandVisible(key, run.brand)) {
      key.audit.note({ brand: run.brand })
      return run
    }
    const unread = read.find(({ status }) => status === 'rejected')
    if (!run && unread?.status === 'rejected') throw unread.reason
    throw new HttpError(404, `there is no run ${shown(name)}: GET /admin/reconciliations lists them`)
  }

  /** A person who gives rights back must confirm for how many users. */
  async function demandConfirmation(
    run: ReconciliationRun,
    what: CorrectionKind,
    confirm: number | undefined,
  ): Promise<void> {
    const { count, sets, sample } = await previewCorrection(databaseOf(run.brand), run, what)
    if (count === 0) throw new HttpError(409, `there is nothing to loosen: no user of this run would get ${sets}`)
    if (confirm === count) return
    const users = `${sample.map((id) => shown(id)).join(', ')}${count > sample.length ? ', …' : ''}`
    const change = `${sets} for ${phraseCount(count, 'user')}, ${users}`
    throw new HttpError(409, `this loosens: ${change}. To confirm, send "confirm": ${count}`)
  }
}

const columns = columnsOf(['user_id', 'field', 'direction', 'severity', 'crm_changed_at', 'correction', 'note'])

async function* readShown(database: Database, run: ReconciliationRun) {
  for await (const page of readAllDiscrepancies(database, run)) yield page.map(shownDiscrepancy)
}

async function* writeLines(pages: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((each) => `${JSON.stringify(each)}\n`).join('')
}
