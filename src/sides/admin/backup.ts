// A backup of the SQLite files of this side, for `bellwire backup`.

import { HttpError } from '../../base/http/http-error.ts'
import { type NamedDatabase, streamBackup } from '../../base/store/backup-stream.ts'
import { textOf } from '../../contract/documents/described.ts'
import type { AuditStore } from '../../subjects/audit/trail.ts'
import { adminRoute } from './route.ts'
import { sendFile } from './send-file.ts'
import { demandAllBrands } from './visibility.ts'

const type = 'application/octet-stream'

/** @param stores all databases of the side */
export const backupRoute = (side: 'operator' | 'platform', stores: readonly AuditStore[]) =>
  adminRoute({
    says: 'Streams the files of the SQLite store, of one moment, for `bellwire backup`. The side goes on meanwhile.',
    files: textOf(type, 'The files and their write-ahead logs'),
    refuses: {
      403: 'The key is bound to brands: a backup has all brands.',
      409: 'The store is not a SQLite file.',
    },
    async handler(_request, key, reply) {
      demandAllBrands(key)
      if (stores.some(({ database }) => !database.holdFile))
        throw new HttpError(409, 'the store is not a SQLite file: back up PostgreSQL with pg_dump or pg_basebackup')
      const files = stores.map(({ name, database }): NamedDatabase => ({ name: fileNameOf(name), database }))
      return sendFile(reply, `${side}.backup`, type, streamBackup(side, files))
    },
  })

/** The platform's CRM has a file of its own. */
const fileNameOf = (store: string): string => (store === 'crm' ? 'crm' : 'store')
