import type { Migration } from '../../base/store/database.ts'
import { deviceSendMigrations } from './device-sends.ts'
import { messageCountMigrations } from './message-counts.ts'
import { messageMigrations } from './messages.ts'
import { permissionMigrations } from './permission.ts'
import { refusalMigrations } from './refusals.ts'
import { requestMigrations } from './requests.ts'
import { revocationMigrations } from './revoked-tokens.ts'

/** The tables of the send path: in the operator's store, and in each store of a platform. */
export const deliveryMigrations: readonly Migration[] = [
  ...permissionMigrations,
  ...messageMigrations,
  ...messageCountMigrations,
  ...requestMigrations,
  ...refusalMigrations,
  ...deviceSendMigrations,
  ...revocationMigrations,
]
