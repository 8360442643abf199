import type { Database } from '../../../base/store/database.ts'
import type { AttributeSource } from '../../attributes/attribute-source.ts'
import { type Field, findUsersWith } from './users.ts'

/**
 * The CRM's users as a source of suppression. A user that the CRM does not have, and an attribute that it does not have, count as
 * false: such a user is neither blocked nor excluded, but has given no consent.
 *
 * @param fields the fields that suppression reads
 * @example crmSource((brand) => stores.of(brand).crm, ['blocked', 'excluded', 'consent_push_notification'])
 */
export function crmSource(databaseOf: (brand: string) => Database, fields: readonly Field[]): AttributeSource {
  return {
    name: "the CRM's users",
    fields,
    among: async (brand, userIds, wanted) => findUsersWith(databaseOf(brand), brand, userIds, wanted),
  }
}
