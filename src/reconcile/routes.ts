// /admin/reconciliations: ask for runs, see what they found, acknowledge, export, correct.

import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { brandNumber, limitOf, nullable, text, textOf, whole } from '../contract/documents/described.ts'
import { reconciliationFields } from '../contract/records.ts'
import { shown } from '../contract/shown.ts'
import type { AccessKey } from '../http/access.ts'
import { type AdminRoute, adminRoute } from '../http/admin-access.ts'
import { HttpError } from '../http/http.ts'
import type { Database } from '../store/database.ts'
import { correct, listCorrections, previewCorrection, type What } from './correct.ts'
import { allDiscrepancies, listDiscrepancies } from './discrepancies.ts'
import { exportCsv, exportNdjson, ShownDiscrepancy, shownDiscrepancy } from './export.ts'
import type { ReconciliationOptions } from './options.ts'
import { acknowledgeRun, askRun, latestRuns, listRuns, type Run, readRun } from './runs.ts'
import { ShownRun, shownRun } from './shown-run.ts'

const what = Type.Enum(['tighten', 'loosen'])
const Correction = Type.Object({
  correction: Type.String(),
  what,
  at: Type.String({ format: 'date-time' }),
  by: Type.String(),
  applied: nullable(whole('null: it was broken off, and can be asked for again')),
  skipped: nullable(whole("The CRM's value changed since, or cannot be kept there")),
})

const RunName = Type.Object({ run: text('The name of the run.') })

const mostRuns = 1_000
const mostDiscrepancies = 10_000

export function reconciliationRoutes(
  database: Database,
  configured: readonly ReconciliationOptions[],
): readonly AdminRoute[] {
  return [
    adminRoute({
      method: 'POST',
      url: '/admin/reconciliations',
      scope: 'manage',
      says: 'Asks for a run now: an operator lists the users of a field, and they are compared with the CRM.',
      body: Type.Object({
        brand: Type.Union([brandNumber(), Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })], {
          title: 'the number of a brand',
          examples: ['1'],
        }),
        field: Type.Enum([...reconciliationFields]),
        any_size: Type.Optional(
          Type.Boolean({ description: 'true: also where the list is far smaller or larger than the last one' }),
        ),
      }),
      gives: Type.Object({
        ...ShownRun.properties,
        fresh: Type.Boolean({ description: 'false: this one was under way already' }),
      }),
      refuses: { 404: 'The brand or the field is not reconciled here, or not for this key.' },
      async handler(request, key) {
        const { brand, field, any_size: anySize = false } = request.body
        const id = String(brand)
        const of = configured.filter((each) => each.brand === id && visible(key, each.brand))
        if (of.length === 0)
          throw new HttpError(404, `brand ${shown(brand)} has no operator here: add it to platform.reconciliation`)
        const fields = of.flatMap((each) => each.fields)
        if (!fields.includes(field))
          throw new HttpError(404, `${shown(field)} is not reconciled: there are ${fields.join(', ')}`)
        const asked = await askRun(database, id, field, key.name, anySize)
        if (asked !== undefined) return { ...shownRun((await readRun(database, asked)) as Run), fresh: true }
        // One is under way already: whoever asks now is told of that one.
        const { last } = await latestRuns(database, id, field)
        return { ...shownRun(last as Run), fresh: false }
      },
    }),
    adminRoute({
      method: 'GET',
      url: '/admin/reconciliations',
      scope: 'read',
      says: 'Lists the runs, the latest first, a page at a time.',
      query: Type.Object({
        brand: Type.Optional(brandNumber('Of this brand.')),
        field: Type.Optional(Type.Enum([...reconciliationFields], { description: 'Of this field.' })),
        limit: Type.Optional(limitOf(mostRuns)),
        after: Type.Optional(text('The `next` of the page before.')),
      }),
      gives: Type.Object({ runs: Type.Array(ShownRun), next: nullable(Type.String()) }),
      async handler(request, key) {
        const { brand, field, after, limit: most = 100 } = request.query
        const brands = [...new Set(configured.map((each) => each.brand))].filter(
          (each) => visible(key, each) && (brand === undefined || brand === each),
        )
        const runs = await listRuns(database, brands, field, after, most)
        return { runs: runs.map(shownRun), next: (runs.length === most && runs.at(-1)?.run) || null }
      },
    }),
    adminRoute({
      method: 'GET',
      url: '/admin/reconciliations/:run',
      scope: 'read',
      says: 'Shows one run and its corrections.',
      params: RunName,
      gives: Type.Object({ ...ShownRun.properties, corrections: Type.Array(Correction) }),
      async handler(request, key) {
        const run = await runOf(request.params.run, key)
        return { ...shownRun(run), corrections: await listCorrections(database, run) }
      },
    }),
    adminRoute({
      method: 'GET',
      url: '/admin/reconciliations/:run/discrepancies',
      scope: 'read',
      says: 'Lists whom a run found to differ, a page at a time.',
      params: RunName,
      query: Type.Object({
        limit: Type.Optional(limitOf(mostDiscrepancies)),
        after: Type.Optional(whole('The `next` of the page before.')),
      }),
      gives: Type.Object({ discrepancies: Type.Array(ShownDiscrepancy), next: nullable(whole()) }),
      async handler(request, key) {
        const run = await runOf(request.params.run, key)
        const { after = 0, limit: most = 100 } = request.query
        const found = await listDiscrepancies(database, run, after, most)
        const next = found.length === most ? (found.at(-1)?.n ?? null) : null
        return { discrepancies: found.map(shownDiscrepancy), next }
      },
    }),
    adminRoute({
      method: 'GET',
      url: '/admin/reconciliations/:run/export',
      scope: 'read',
      says: 'Gives all that a run found to differ, as a file.',
      params: RunName,
      query: Type.Object({
        format: Type.Optional(Type.Enum(['ndjson', 'csv'], { description: 'ndjson where it is left out.' })),
      }),
      files: {
        ...textOf('application/x-ndjson', 'One discrepancy in each line'),
        ...textOf('text/csv', 'A line of names, then one discrepancy in each line'),
      },
      async handler(request, key, reply) {
        const run = await runOf(request.params.run, key)
        const { format = 'ndjson' } = request.query
        return sendFile(reply, run, format, allDiscrepancies(database, run))
      },
    }),
    adminRoute({
      method: 'POST',
      url: '/admin/reconciliations/:run/acknowledge',
      scope: 'manage',
      says: 'Notes that somebody has seen what a run found or why it was refused.',
      params: RunName,
      gives: ShownRun,
      async handler(request, key) {
        const run = await runOf(request.params.run, key)
        await acknowledgeRun(database, run.brand, run.run, key.name)
        return shownRun((await readRun(database, run.run)) as Run)
      },
    }),
    adminRoute({
      method: 'POST',
      url: '/admin/reconciliations/:run/correct',
      scope: 'manage',
      says: 'Sets in the CRM what the operator says: tighten takes rights away, loosen gives them back and must be confirmed.',
      params: RunName,
      body: Type.Object({
        what: Type.Optional(
          Type.Enum(['tighten', 'loosen'], {
            default: 'tighten',
            description: 'tighten: block, exclude, deactivate, withdraw consent. loosen: the opposite.',
          }),
        ),
        preview: Type.Optional(Type.Boolean({ description: 'true: only say what would be done' })),
        confirm: Type.Optional(
          Type.Integer({ description: 'How many users, as the preview said; required for loosen' }),
        ),
      }),
      gives: Type.Union([
        Type.Object({ correction: Type.String(), applied: whole(), skipped: whole() }),
        Type.Object(
          { what, count: whole(), sets: Type.String(), sample: Type.Array(Type.String()) },
          { description: 'A preview' },
        ),
      ]),
      refuses: { 409: 'It loosens, and is not confirmed with the number of users that the preview says.' },
      async handler(request, key) {
        const run = await runOf(request.params.run, key)
        const { what = 'tighten', preview = false, confirm } = request.body
        if (preview) return previewCorrection(database, run, what)
        if (what === 'loosen') await demandConfirmation(run, what, confirm)
        return correct(database, run, what, key.name)
      },
    }),
  ]

  async function runOf(name: string, key: AccessKey): Promise<Run> {
    const run = await readRun(database, name)
    if (run && visible(key, run.brand)) return run
    throw new HttpError(404, `there is no run ${shown(name)}: GET /admin/reconciliations lists them`)
  }

  /** Who gives rights back must have seen to how many, and say so. */
  async function demandConfirmation(run: Run, what: What, confirm: number | undefined): Promise<void> {
    const { count, sets, sample } = await previewCorrection(database, run, what)
    if (count === 0) throw new HttpError(409, `there is nothing to loosen: no user of this run would get ${sets}`)
    if (confirm === count) return
    const users = `${sample.map((id) => shown(id)).join(', ')}${count > sample.length ? ', …' : ''}`
    const says = `${sets} for ${count} ${count === 1 ? 'user' : 'users'}, ${users}`
    throw new HttpError(409, `this loosens: ${says}. If that is meant, send "confirm": ${count}`)
  }
}

function sendFile(
  reply: FastifyReply,
  run: Run,
  format: 'ndjson' | 'csv',
  pages: ReturnType<typeof allDiscrepancies>,
): FastifyReply {
  const name = `reconciliation-${run.brand}-${run.field}-${run.run}.${format}`
  return reply
    .header('content-type', format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson')
    .header('content-disposition', `attachment; filename="${name}"`)
    .send(Readable.from(format === 'csv' ? exportCsv(pages) : exportNdjson(pages), { objectMode: false }))
}

/** A key bound to brands sees only theirs (row 31). */
function visible(key: AccessKey, brand: string): boolean {
  return key.brands?.includes(brand) ?? true
}
