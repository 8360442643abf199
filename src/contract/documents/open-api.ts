// The OpenAPI 3.1 documents, built from the schemas in records.ts and device-events.ts and from the description of each route.

import { type TObject, type TSchema, Type } from 'typebox'
import { ErrorRecord } from '../records.ts'
import { type Components, createComponents, type Json } from './components.ts'
import { type Contents, type DescribedRoute, json, type RouteGroup, requiresBody, type Security } from './described.ts'
import type { InterfaceOperation } from './interface-operations.ts'

export interface OpenApiOptions {
  readonly title: string
  readonly description: string
  /** The interface's own endpoints. */
  readonly operations: readonly InterfaceOperation[]
  /** The public address of these endpoints and of the public groups. Default: the address of the document. */
  readonly publicUrl?: string | undefined
  /** All other routes. */
  readonly groups: readonly RouteGroup[]
}

/**
 * The document of one side. The server that serves it adds `servers`, because only it knows the address of the document.
 *
 * @example openApi({ title: 'Operator', description: '…', operations: operatorOperations, groups: [] }).paths['/reconciliation']
 */
export function openApi({ title, description, operations, publicUrl, groups }: OpenApiOptions): Json {
  const components = createComponents()
  const paths: Record<string, Record<string, Json>> = {}
  const addOperation = (method: string, url: string, operation: Json): void => {
    const path = url.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [method.toLowerCase()]: { operationId: nameOf(method, url), ...operation } }
  }
  const servers = publicUrl === undefined ? {} : { servers: [{ url: publicUrl }] }
  for (const operation of operations)
    addOperation(operation.method, operation.path, { ...describeInterface(operation, components), ...servers })
  for (const group of groups)
    for (const route of group.routes)
      addOperation(route.method, route.url, {
        ...describeRoute(route, group, components),
        ...(group.isPublic && servers),
      })
  return {
    openapi: '3.1.1',
    // §9: the endpoints are not versioned, except for the platform's prefix /v1/.
    info: { title, version: '1', description, license: { name: 'MIT', identifier: 'MIT' } },
    tags: [
      { name: interfaceTag, description: 'The endpoints of the operator integration interface.' },
      ...groups.map(({ tag, says }) => ({ name: tag, description: says })),
    ],
    paths,
    components: { schemas: components.schemas, securitySchemes: { ...securitySchemes, ...keySchemes } },
  }
}

const interfaceTag = 'Interface'

/** Other places of the key, at the endpoints for the other party. */
const keySchemes: Readonly<Record<string, Json>> = {
  ApiKeyAsBearer: { type: 'http', scheme: 'bearer', description: 'The API key as the token of Bearer.' },
  ApiKeyAsBasic: {
    type: 'http',
    scheme: 'basic',
    description: 'The name of the API key as the user name, and the key as the password.',
  },
}
const securityOf = (security: Security): Json[] =>
  [security, ...(security === 'ApiKey' ? Object.keys(keySchemes) : [])].map((name) => ({ [name]: [] }))

const securitySchemes: Record<Security, Json> = {
  ApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'The API key of the caller. It determines the brands that the caller may access.',
  },
  Bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A subscriber token, issued by the operator for one user of one brand, valid for minutes.',
  },
  Signature: {
    type: 'apiKey',
    in: 'header',
    name: 'Webhook-Signature',
    description:
      'The signature of the call by the Standard Webhooks scheme. Its secret determines the lanes of the caller.',
  },
}

/** 'GET', '/admin/messages/:ref' → 'getAdminMessagesRef' */
function nameOf(method: string, url: string): string {
  const words = url.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function describeInterface(operation: InterfaceOperation, { refer }: Components): Json {
  const { purpose, description, security = 'ApiKey', headers, body, example, response, success, refusals } = operation
  const errors = Object.entries(refusals).map(([status, cause]) => [status, refusal(Number(status), cause, refer)])
  return {
    tags: [interfaceTag],
    summary: purpose,
    description,
    security: securityOf(security),
    parameters: headerParameters(headers),
    requestBody: { required: true, content: { 'application/json': { schema: refer(body), example } } },
    responses: {
      200: { description: success, content: contentOf(json(response), refer) },
      ...Object.fromEntries(errors),
    },
  }
}

const anyObject = Type.Object({})

function describeRoute(route: DescribedRoute, { tag, security, isPublic }: RouteGroup, { refer }: Components): Json {
  const { says, scope, params, query, headers = {}, body, bodies = body && json(body), gives, files } = route
  const parameters = [...parametersOf('path', params), ...parametersOf('query', query), ...headerParameters(headers)]
  const refusals = {
    ...(security === undefined ? { 503: 'Temporarily unavailable.' } : refusalsOf(route, security)),
    ...route.refuses,
  }
  const errors = Object.entries(refusals).map(([status, cause]) => [status, refusal(Number(status), cause, refer)])
  return {
    tags: [tag],
    summary: says,
    ...(scope !== undefined && { description: `The key needs the scope \`${scope}\`.` }),
    security: security === undefined ? [] : isPublic ? securityOf(security) : [{ [security]: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(bodies && {
      requestBody: { required: body === undefined || requiresBody(body), content: contentOf(bodies, refer) },
    }),
    responses: {
      200: { description: 'Success.', content: contentOf(files ?? json(gives ?? anyObject), refer) },
      ...Object.fromEntries(errors),
    },
  }
}

function refusalsOf({ method, scope, url }: DescribedRoute, security: Security): Record<number, string> {
  return {
    400: 'The request is invalid; `error` describes the cause.',
    401:
      security === 'ApiKey'
        ? 'The API key is missing, unknown or expired.'
        : 'The subscriber token is missing or invalid.',
    403:
      scope === undefined ? 'Not allowed for this user.' : `The key lacks the scope ${scope}, or access to the brand.`,
    ...(url.includes(':') && { 404: 'Not found, or not accessible with this key.' }),
    ...(method === 'POST' && {
      413: 'The body is too large.',
      415: 'The body is compressed, or its content type is wrong.',
    }),
    ...(security === 'Bearer' && { 429: 'Too many requests of this user are in progress.' }),
    503: 'Temporarily unavailable. Retry.',
  }
}

/** An error response with the record of §2.3, and with Retry-After if the cause is temporary (row 13). */
function refusal(status: number, description: string, refer: Components['refer']): Json {
  const retryAfter = { description: 'The time until a retry, in seconds.', schema: { type: 'integer', minimum: 0 } }
  return {
    description,
    ...((status === 503 || status === 429) && { headers: { 'Retry-After': retryAfter } }),
    content: contentOf(json(ErrorRecord), refer),
  }
}

function contentOf(contents: Contents, refer: (schema: TSchema) => Json): Json {
  return Object.fromEntries(Object.entries(contents).map(([type, schema]) => [type, { schema: refer(schema) }]))
}

function parametersOf(where: 'path' | 'query', described: TObject | undefined): Json[] {
  const { properties = {}, required = [] } = (described ?? {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: where,
    ...(required.includes(name) && { required: true }),
    description,
    schema,
  }))
}

function headerParameters(described: Readonly<Record<string, string>>): Json[] {
  return Object.entries(described).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  }))
}
