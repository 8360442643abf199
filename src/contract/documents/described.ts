import { type TSchema, Type } from 'typebox'

/** What is sent or answered, by content type. */
export type Contents = Readonly<Record<string, TSchema>>

/** A route of ours as it is described, beside the interface's own: by whoever registers it, in the same place. */
export interface DescribedRoute {
  readonly method: string
  /** As Fastify has it: '/admin/messages/:ref'. */
  readonly url: string
  /** One plain sentence. */
  readonly says: string
  /** What its key must be allowed to do. */
  readonly scope?: string
  readonly params?: Readonly<Record<string, string | TSchema>>
  readonly query?: Readonly<Record<string, string | TSchema>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Contents
  /** Statuses beside the common ones of all routes, and their causes. */
  readonly refuses?: Readonly<Record<number, string>>
  /** Left out: some JSON object. */
  readonly gives?: Contents
}

export type Security = 'ApiKey' | 'Bearer'

/** Routes that are shown together and opened by the same credential. */
export interface RouteGroup {
  readonly tag: string
  readonly says: string
  /** Left out: anybody. */
  readonly security?: Security
  readonly routes: readonly DescribedRoute[]
}

/** @example json(Type.Object({ lane: Type.String() })) */
export const json = (schema: TSchema): Contents => ({ 'application/json': schema })

/** Null where there is none. */
export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

export const whole = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description !== undefined && { description }) })

/** How many a page may have. */
export const limitOf = (most: number, otherwise = 100) =>
  Type.Integer({ minimum: 1, description: `Most entries, up to ${most}. Default: ${otherwise}.` })

/** The number of a brand, in a path or a query. */
export const brandNumber = (description = 'The number of the brand.') =>
  Type.String({ pattern: '^(0|[1-9][0-9]{0,18})$', description })

/** @example at: moment('When it began') */
export const moment = (description: string) => whole(`${description}, in milliseconds since 1970`)

/** What was not taken, of records that come one in each line. */
export const refusedLines = Type.Array(Type.Object({ line: whole('Counted from 1'), error: Type.String() }), {
  description: 'The first 1,000',
})

/** @example textOf('text/csv', 'One user in each line') */
export const textOf = (contentType: string, description: string): Contents => ({
  [contentType]: Type.String({ description }),
})
