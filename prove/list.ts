import type { Proof } from './harness/proof.ts'
import { alertRules } from './proofs/alert-rules.ts'
import { brands } from './proofs/brands.ts'
import { consoleProofs } from './proofs/console.ts'
import { deviceLinks } from './proofs/device-links.ts'
import { diskFullProofs } from './proofs/disk-full.ts'
import { division } from './proofs/division.ts'
import { eraseProofs } from './proofs/erase.ts'
import { exactlyOnce, exactlyOncePostgres } from './proofs/exactly-once.ts'
import { failover } from './proofs/failover.ts'
import { goaway, goawayApns } from './proofs/goaway.ts'
import { handOver } from './proofs/hand-over.ts'
import { http2Fuzz } from './proofs/http2-fuzz.ts'
import { http2Interop } from './proofs/http2-interop.ts'
import { intake } from './proofs/intake.ts'

import { kills, killsDevices, killsPostgres } from './proofs/kills.ts'
import { killsFleet } from './proofs/kills-fleet.ts'
import { lookUpsPostgres, lookUpsSqlite } from './proofs/look-ups.ts'
import { move } from './proofs/move.ts'
import { neighbours } from './proofs/neighbours.ts'
import { outageProofs } from './proofs/outage.ts'
import { permissionProofs } from './proofs/permission.ts'
import { reconcilePostgres, reconcileSqlite } from './proofs/reconcile.ts'
import { reconcileStream } from './proofs/reconcile-stream.ts'
import { reload } from './proofs/reload.ts'
import { resend } from './proofs/resend.ts'
import { restore } from './proofs/restore.ts'
import { simulate } from './proofs/simulate.ts'
import { snapshot } from './proofs/snapshot.ts'
import { statusProofs } from './proofs/status.ts'
import { statusAway } from './proofs/status-away.ts'
import { storm } from './proofs/storm.ts'
import { strangers } from './proofs/strangers.ts'
import { upgrade } from './proofs/upgrade.ts'
import { wrongCredential } from './proofs/wrong-credential.ts'

export const proofs: readonly Proof[] = [
  simulate,
  exactlyOnce,
  exactlyOncePostgres,
  kills,
  killsDevices,
  ...killsPostgres,
  ...killsFleet,
  division,
  handOver,
  snapshot,
  storm,
  resend,
  restore,
  failover,
  upgrade,
  move,
  brands,
  ...eraseProofs,
  wrongCredential,
  neighbours,
  strangers,
  ...outageProofs,
  ...diskFullProofs,
  goaway,
  goawayApns,
  http2Fuzz,
  ...http2Interop,
  lookUpsSqlite,
  lookUpsPostgres,
  ...consoleProofs,
  ...permissionProofs,
  reload,
  reconcileStream,
  reconcileSqlite,
  reconcilePostgres,
  ...deviceLinks,
  ...intake,
  ...statusProofs,
  statusAway,
  alertRules,
]
