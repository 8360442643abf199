// The entry that a request to /admin leaves in the audit trail. A handler that changes rows commits the entry with them. In any
// other case it is stored before the answer is sent.

import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import { addressOf } from '../../base/http/address.ts'
import type { Op } from '../../base/store/database.ts'
import { type AuditDetails, auditOps, type NewAuditEntry } from '../../subjects/audit/table.ts'
import type { AuditTrail } from '../../subjects/audit/trail.ts'
import { membersOf, type RouteSchemas } from './requests.ts'

export interface RequestAudit {
  /** The operations that store the entry, or several. Call it only for a commit, which has the change of the act. */
  ops(...details: readonly AuditDetails[]): readonly Op[]
  /** Stores the entry at once, for an act that needs several commits. */
  record(details?: AuditDetails): Promise<void>
  /** Adds to the entry. */
  note(details: AuditDetails): void
}

/** The key of a request, with its entry. */
export interface AdminCaller extends AccessKey {
  readonly audit: RequestAudit
}

export interface OpenEntry extends RequestAudit {
  /** Stores the entry, unless the handler did. */
  close(): Promise<void>
}

/** How a route describes its entries. */
export interface RecordedRoute {
  /** null: the route leaves no entry. */
  readonly act: string | null
  /** The member that says why the person acts. */
  readonly why: 'reason' | 'note' | undefined
  readonly schemas: RouteSchemas
}

export function openEntry(
  trail: AuditTrail,
  { act, why, schemas }: RecordedRoute,
  request: FastifyRequest,
  key: AccessKey,
): OpenEntry {
  let noted: AuditDetails = {}
  let stored = act === null
  const entryOf = (details: AuditDetails = {}): NewAuditEntry => {
    const said = describeRequest(request, why, schemas)
    const entry = { act: act ?? '', by: key.name, address: addressOf(request.raw), ...said, ...noted, ...details }
    // A request of a key of one brand need not name the brand.
    return { ...entry, brand: entry.brand ?? onlyBrandOf(key) }
  }
  return {
    ops(...details) {
      if (act === null) return []
      stored = true
      return auditOps(details.length === 0 ? [entryOf()] : details.map(entryOf))
    },
    async record(details) {
      if (act === null) return
      await trail.record(entryOf(details))
      stored = true
    },
    note(details) {
      noted = { ...noted, ...details }
    },
    async close() {
      if (stored) return
      await trail.record(entryOf(), request.method !== 'GET')
    },
  }
}

const onlyBrandOf = ({ brands = [] }: AccessKey): string | undefined => (brands.length === 1 ? brands[0] : undefined)

/** The members of a request that only select a page. */
const paging = new Set(['limit', 'after', 'before'])

/**
 * The brand, the user and the other members of a request: of its path, its query and its JSON body, as its route declares. It ignores any
 * others, so they must not name another brand or user in the entry.
 */
function describeRequest(
  { params, query, body }: FastifyRequest,
  why: RecordedRoute['why'],
  schemas: RouteSchemas,
): AuditDetails {
  const members = {
    ...pickDeclared(query as Members, schemas.query),
    ...pickDeclared(isJson(body) ? body : {}, schemas.body),
    ...pickDeclared(params as Members, schemas.params),
  }
  const { brand, user_id, user = user_id, lane, ...rest } = members
  const given = Object.fromEntries(
    Object.entries(rest).filter(([name, value]) => value !== undefined && name !== why && !paging.has(name)),
  )
  const ofLane = typeof lane === 'string' ? lane.split('/', 1)[0] : undefined
  return {
    ...present('brand', brand ?? ofLane),
    ...present('user', user),
    ...present('lane', lane),
    ...(Object.keys(given).length > 0 && { given }),
    ...present('reason', why && members[why]),
  }
}

type Members = Readonly<Record<string, unknown>>

function pickDeclared(members: Members, schema: TSchema | undefined): Members {
  const declared = membersOf(schema)
  return Object.fromEntries(Object.entries(members).filter(([name]) => Object.hasOwn(declared, name)))
}

/** A body of another type is a stream, or bytes. */
const isJson = (body: unknown): body is Members =>
  typeof body === 'object' && body !== null && !Buffer.isBuffer(body) && !(Symbol.asyncIterator in body)

const present = (name: keyof AuditDetails, value: unknown): AuditDetails =>
  value === undefined || value === null ? {} : { [name]: String(value) }
