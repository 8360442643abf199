import { type TSchema, Type } from 'typebox'

/** The schema of a body for each content type. */
export type Contents = Readonly<Record<string, TSchema>>

/** The description of a route that the interface does not define. It is written where the route is registered. */
export interface DescribedRoute {
  readonly method: string
  /** The path in Fastify's syntax: '/admin/messages/:ref'. */
  readonly url: string
  /** The summary, one sentence. */
  readonly says: string
  /** The scope that the key needs. */
  readonly scope?: string
  readonly params?: Readonly<Record<string, string | TSchema>>
  readonly query?: Readonly<Record<string, string | TSchema>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Contents
  /** Additional error statuses, each with its cause. */
  readonly refuses?: Readonly<Record<number, string>>
  /** The response. Default: any JSON object. */
  readonly gives?: Contents
}

export type Security = 'ApiKey' | 'Bearer'

/** Routes that are listed under one tag and have the same authentication. */
export interface RouteGroup {
  readonly tag: string
  readonly says: string
  /** Default: no authentication. */
  readonly security?: Security
  readonly routes: readonly DescribedRoute[]
}

/** @example json(Type.Object({ lane: Type.String() })) */
export const json = (schema: TSchema): Contents => ({ 'application/json': schema })

/** A value of this schema, or null if there is none. */
export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

export const whole = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description !== undefined && { description }) })

/** The page size. */
export const limitOf = (most: number, otherwise = 100) =>
  Type.Integer({ minimum: 1, description: `The most items of the page, up to ${most}. Default: ${otherwise}.` })

/** The number of a brand, in a path or a query. */
export const brandNumber = (description = 'The number of the brand.') =>
  Type.String({ pattern: '^(0|[1-9][0-9]{0,18})$', description })

/** @example at: moment('When it began') */
export const moment = (description: string) => whole(`${description}, in milliseconds since 1970`)

/** The refused lines of a body with one record per line. */
export const refusedLines = Type.Array(Type.Object({ line: whole('The line number, from 1'), error: Type.String() }), {
  description: 'The first 1,000',
})

/** @example textOf('text/csv', 'One user per line') */
export const textOf = (contentType: string, description: string): Contents => ({
  [contentType]: Type.String({ description }),
})
