import { type TObject, type TProperties, type TSchema, type TStringOptions, Type } from 'typebox'
import { isIntegerText, isPlain, mostText } from '../ids.ts'

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
  readonly params?: TObject
  readonly query?: TObject
  readonly headers?: Readonly<Record<string, string>>
  /** A JSON body. The server validates it. */
  readonly body?: TSchema
  /** Bodies that the handler reads itself, by content type. */
  readonly bodies?: Contents
  /** Additional error statuses, each with its cause. */
  readonly refuses?: Readonly<Record<number, string>>
  /** The JSON answer. Default: any JSON object. */
  readonly gives?: TSchema
  /** Answers of other content types. */
  readonly files?: Contents
}

/** Whether a request without a body is refused. */
export const requiresBody = (body: TSchema): boolean =>
  ((body as { readonly required?: readonly string[] }).required ?? []).length > 0

export type Security = 'ApiKey' | 'Bearer' | 'Signature'

/** Routes that are listed under one tag and have the same authentication. */
export interface RouteGroup {
  readonly tag: string
  readonly says: string
  /** Default: no authentication. */
  readonly security?: Security
  /** The routes are at the public address of the side, also if the administration has an address of its own. */
  readonly isPublic?: true
  readonly routes: readonly DescribedRoute[]
}

/** @example json(Type.Object({ lane: Type.String() })) */
export const json = (schema: TSchema): Contents => ({ 'application/json': schema })

/** An object that refuses unknown members, which would select more than the caller intended. */
export const closedObject = <Members extends TProperties>(members: Members) =>
  Type.Object(members, { additionalProperties: false })

export const text = (description: string) => Type.String({ description })

/** A value of this schema, or null if there is none. */
export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

export const whole = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description !== undefined && { description }) })

/** The page size. */
export const limitOf = (most: number, otherwise = 100) =>
  Type.Integer({
    minimum: 1,
    maximum: most,
    default: otherwise,
    description: `The most items of the page, up to ${most}. Default: ${otherwise}.`,
  })

/** The number of a brand, as a string. */
export const brandNumber = (description = 'The number of the brand.') =>
  Type.Refine(
    Type.String({
      pattern: '^(0|[1-9][0-9]{0,18})$',
      title: 'the number of a brand as a string',
      examples: ['1'],
      description,
    }),
    isIntegerText,
  )

/** A brand in a JSON body: a text or, as in the activity record, a number. Read it with String(). */
export const brandInJson = (description = 'The number of the brand.') =>
  Type.Union([brandNumber(), Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })], {
    title: 'the number of a brand',
    examples: ['1'],
    description,
  })

/** A text in a request, of `least` to `most` characters. */
export const plainText = (least: number, most: number, description: string, options: TStringOptions = {}) =>
  Type.Refine(
    Type.String({
      minLength: least,
      maxLength: most,
      title: `a string of ${least} to ${most} characters without control characters`,
      description,
      ...options,
    }),
    (given) => isPlain(given, most),
  )

/** The id of a user, in a request (row 34). */
export const userId = (description = 'The id of the user.') => plainText(1, mostText, description)

/** A time in a request. `read` returns undefined for a text that is not a time. */
export const timeText = (read: (text: string) => unknown, description: string, options: TStringOptions = {}) =>
  Type.Refine(
    Type.String({ title: 'a time', examples: ['2026-01-31T10:00:00Z'], description, ...options }),
    (given) => read(given) !== undefined,
  )

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

/** The message key (row 29). */
export const messageKeyText = Type.String({
  description:
    'channel, activity.id, user_id, activity_id, action_id and trigger_hash as a JSON array. With the brand it identifies the message on both sides',
})
