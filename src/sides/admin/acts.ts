// The acts of the audit trail: the name of each route, in one vocabulary. Each use of such a route is an entry.

/**
 * null: nothing of persons is shown and nothing is decided, or the calls are traffic: the records that a CRM enqueues, and the
 * questions for their outcomes. An entry for each of these would be a flood.
 */
const acts = {
  'GET /admin/summary': null,
  'POST /admin/reload': 'reload',
  'GET /admin/backup': 'backup',
  'GET /admin/settings': null,
  'GET /admin/keys': null,
  'POST /admin/keys': 'keys.add',
  'POST /admin/keys/revoke': 'keys.revoke',
  'POST /admin/activities/:channel': null,
  'POST /admin/outcomes': null,
  'GET /admin/consumers': null,
  'GET /admin/services': null,
  'POST /admin/subscriber-tokens': 'tokens.create',
  'POST /admin/subscriber-tokens/revoke': 'tokens.revoke',
  'GET /admin/messages': 'messages.find',
  'GET /admin/messages/:ref': 'messages.show',
  'GET /admin/messages/:seq': 'messages.show',
  'GET /admin/people/:brand/:user': 'people.export',
  // Counts only.
  'POST /admin/people/erase/preview': null,
  'POST /admin/people/erase': 'people.erase',
  'GET /admin/people/erasures': 'people.list-erasures',
  // Counts and a digest: clients ask again until it is done.
  'GET /admin/people/erasures/:id': null,
  'GET /admin/permission.csv': 'permission.export',
  'GET /admin/permission/check': 'permission.check',
  'POST /admin/permission/check': 'permission.check',
  'GET /admin/devices': 'devices.list',
  'GET /admin/devices/removed': 'devices.list-removed',
  'POST /admin/devices/link': 'devices.link',
  'POST /admin/devices/unlink': 'devices.unlink',
  'POST /admin/devices/restore': 'devices.restore',
  'GET /admin/devices/removals': null,
  'POST /admin/devices/removals/confirm': 'removals.confirm',
  'GET /admin/failed': 'failed.list',
  'GET /admin/failed/summary': null,
  'GET /admin/failed.csv': 'failed.export',
  'GET /admin/failed/:seq': 'failed.show',
  'POST /admin/failed/dismiss': 'failed.dismiss',
  'POST /admin/failed/replay': 'failed.replay',
  'GET /admin/lanes': null,
  'POST /admin/lanes/add': 'lanes.add',
  'POST /admin/lanes/change': 'lanes.change-stored',
  'POST /admin/lanes/remove': 'lanes.remove',
  'POST /admin/lanes/pause': 'lanes.pause',
  'POST /admin/lanes/resume': 'lanes.resume',
  'POST /admin/lanes/settings': 'lanes.change',
  'POST /admin/lanes/settings/reset': 'lanes.reset',
  'POST /admin/lanes/cancel/preview': null,
  'POST /admin/lanes/cancel': 'lanes.cancel',
  // What administrators typed, and how far it is: clients ask again until it is done.
  'GET /admin/lanes/cancellations': null,
  'GET /admin/audit': 'audit.list',
  'GET /admin/audit.ndjson': 'audit.export',
  'GET /admin/audit/verify': 'audit.verify',
  'GET /admin/conversions': null,
  'GET /admin/conversions.csv': 'conversions.export-counts',
  'GET /admin/conversions/messages': 'conversions.list',
  'GET /admin/conversions/messages.csv': 'conversions.export',
  'GET /admin/attributes/:brand/:user': 'attributes.show',
  'POST /admin/attributes/:brand': 'attributes.import',
  'POST /admin/attributes/:brand/:user': 'attributes.change',
  'GET /admin/reconciliations': null,
  'GET /admin/reconciliations/:run': null,
  'POST /admin/reconciliations': 'reconciliations.start',
  'GET /admin/reconciliations/:run/discrepancies': 'reconciliations.list-users',
  'GET /admin/reconciliations/:run/export': 'reconciliations.export',
  'POST /admin/reconciliations/:run/acknowledge': 'reconciliations.acknowledge',
  'POST /admin/reconciliations/:run/correct': 'reconciliations.correct',
} as const satisfies Readonly<Record<string, string | null>>

/** A route with an act, or with null. */
export type DecidedRoute = keyof typeof acts

/** @example actOf('POST /admin/lanes/pause') // 'lanes.pause' */
export const actOf = (route: DecidedRoute): string | null => acts[route]
