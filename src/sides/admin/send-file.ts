import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { type Columns, writeCsv } from '../../base/http/csv.ts'

type Pages<Row> = Parameters<typeof writeCsv<Row>>[1]

/** Answers with a file, which is read and sent page by page. */
export const sendFile = (reply: FastifyReply, name: string, type: string, parts: AsyncIterable<string | Uint8Array>) =>
  reply
    .header('content-type', type)
    .header('content-disposition', `attachment; filename="${name}"`)
    .send(Readable.from(parts, { objectMode: false }))

/** @example sendCsv(reply, 'users', { id: ({ id }) => id }, pages) // users.csv */
export const sendCsv = <Row>(reply: FastifyReply, name: string, columns: Columns<Row>, pages: Pages<Row>) =>
  sendFile(reply, `${name}.csv`, 'text/csv; charset=utf-8', writeCsv(columns, pages))
