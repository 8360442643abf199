// OpenAPI 3.1, from the schemas of records.ts and device-events.ts, and from what each route says of itself.

import { type TSchema, Type } from 'typebox'
import { ErrorRecord } from '../records.ts'
import { type Components, createComponents, type Json } from './components.ts'
import { type Contents, type DescribedRoute, json, type RouteGroup, type Security } from './described.ts'
import type { InterfaceOperation } from './interface-operations.ts'

export interface OpenApiOptions {
  readonly title: string
  readonly description: string
  /** The interface's own endpoints. */
  readonly operations: readonly InterfaceOperation[]
  /** Where the other party reaches them. Left out: where the document is. */
  readonly publicUrl?: string | undefined
  /** Everything beside them. */
  readonly groups: readonly RouteGroup[]
}

/**
 * The document of one side. Its `servers` are filled in by the server that sends it, which has the request's address.
 *
 * @example openApi({ title: 'Operator', description: '…', operations: operatorOperations, groups: [] }).paths['/reconciliation']
 */
export function openApi({ title, description, operations, publicUrl, groups }: OpenApiOptions): Json {
  const components = createComponents()
  const paths: Record<string, Record<string, Json>> = {}
  const put = (method: string, url: string, operation: Json): void => {
    const path = url.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [method.toLowerCase()]: { operationId: nameOf(method, url), ...operation } }
  }
  const elsewhere = publicUrl === undefined ? {} : { servers: [{ url: publicUrl }] }
  for (const operation of operations)
    put(operation.method, operation.path, { ...ofInterface(operation, components), ...elsewhere })
  for (const group of groups)
    for (const route of group.routes) put(route.method, route.url, ofRoute(route, group, components))
  return {
    openapi: '3.1.1',
    // §9: the endpoints have no version but the /v1/ of the platform's.
    info: { title, version: '1', description, license: { name: 'MIT', identifier: 'MIT' } },
    tags: [
      { name: interfaceTag, description: 'What the operator integration interface prescribes.' },
      ...groups.map(({ tag, says }) => ({ name: tag, description: says })),
    ],
    paths,
    components: { schemas: components.schemas, securitySchemes },
  }
}

const interfaceTag = 'Interface'

const securitySchemes: Record<Security, Json> = {
  ApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'A token given to whoever calls (§5.1). It decides which brands are open to them (row 31).',
  },
  Bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A subscriber token, made by the operator for one user of one brand, valid for minutes.',
  },
}

/** 'GET', '/admin/messages/:ref' → 'getAdminMessagesRef' */
function nameOf(method: string, url: string): string {
  const words = url.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function ofInterface(operation: InterfaceOperation, { refer }: Components): Json {
  const { section, purpose, says, headers, body, example, gives, success, refusals } = operation
  const errors = Object.entries(refusals).map(([status, why]) => [status, refusal(Number(status), why, refer)])
  return {
    tags: [interfaceTag],
    summary: purpose,
    description: `${section}. ${says}`,
    security: [{ ApiKey: [] }],
    ...parametersOf('header', headers),
    requestBody: { required: true, content: { 'application/json': { schema: refer(body), example } } },
    responses: { 200: { description: success, content: contentOf(json(gives), refer) }, ...Object.fromEntries(errors) },
  }
}

const anyObject = Type.Object({})

function ofRoute(route: DescribedRoute, { tag, security }: RouteGroup, { refer }: Components): Json {
  const { says, scope, params = {}, query = {}, headers = {}, body, gives = json(anyObject), url } = route
  const named = [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, params[name] ?? name] as const)
  const parameters = [
    ...named.map(([name, description]) => ({ ...parameter('path', name, description), required: true })),
    ...Object.entries(query).map(([name, description]) => parameter('query', name, description)),
    ...Object.entries(headers).map(([name, description]) => parameter('header', name, description)),
  ]
  const refusals = { ...(security === undefined ? { 503: 'Not now.' } : refusalsOf(route, security)), ...route.refuses }
  const errors = Object.entries(refusals).map(([status, why]) => [status, refusal(Number(status), why, refer)])
  return {
    tags: [tag],
    summary: says,
    ...(scope !== undefined && { description: `The key needs the scope \`${scope}\`.` }),
    security: security === undefined ? [] : [{ [security]: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: contentOf(body, refer) } }),
    responses: { 200: { description: 'Done.', content: contentOf(gives, refer) }, ...Object.fromEntries(errors) },
  }
}

function refusalsOf({ method, scope, url }: DescribedRoute, security: Security): Record<number, string> {
  return {
    400: 'Something in the request cannot be read: `error` says what.',
    401:
      security === 'ApiKey' ? 'The API key is missing or not known.' : 'The subscriber token is missing or not valid.',
    403: scope === undefined ? 'Not for this user.' : `The key lacks the scope ${scope}, or is not for this brand.`,
    ...(url.includes(':') && { 404: 'There is no such thing, or not for this key.' }),
    ...(method === 'POST' && {
      408: 'The body did not arrive in time.',
      413: 'The body is too large.',
      415: 'The body is compressed, or of another type.',
    }),
    503: 'Not now: come again.',
  }
}

/** §2.3 for every refusal; one that passes by itself says when to come again (row 13). */
function refusal(status: number, description: string, refer: Components['refer']): Json {
  const retryAfter = { description: 'When to come again, in seconds.', schema: { type: 'integer', minimum: 0 } }
  return {
    description,
    ...((status === 503 || status === 429) && { headers: { 'Retry-After': retryAfter } }),
    content: contentOf(json(ErrorRecord), refer),
  }
}

function contentOf(contents: Contents, refer: (schema: TSchema) => Json): Json {
  return Object.fromEntries(Object.entries(contents).map(([type, schema]) => [type, { schema: refer(schema) }]))
}

function parametersOf(where: 'header', described: Readonly<Record<string, string>>): Json {
  const parameters = Object.entries(described).map(([name, description]) => parameter(where, name, description))
  return parameters.length === 0 ? {} : { parameters }
}

function parameter(where: 'path' | 'query' | 'header', name: string, described: string | TSchema): Json {
  const { description, ...schema } = (
    typeof described === 'string' ? Type.String({ description: described }) : described
  ) as Json
  return { name, in: where, description, schema }
}
