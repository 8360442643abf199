import type { Configuration } from '../../base/http/service.ts'
import type { Judge } from '../devices/device-event.ts'
import type { ConsoleSignIn } from './console.ts'

/** The options that both sides have. */
export interface SideOptions {
  /** The configuration of the process, for GET /admin/settings and POST /admin/reload. Absent: there are no such routes. */
  readonly configuration?: Configuration
  /** Sign-in to the console without a key. */
  readonly console?: ConsoleSignIn
  /** 'sqlite:PATH' or 'postgres://…'. The operator and the platform must not share a store. */
  readonly store: string
  /** The address at which the other party reaches this side, shown in /docs and /openapi.json. Default: the address of these. */
  readonly publicUrl?: string
  /** Decides whether a Web Push subscription may be linked: its endpoint is untrusted input. Returns why not. */
  readonly judgeDevice?: Judge
  /** Retention of messages and notifications, in milliseconds; 90 days, the minimum of row 29. */
  readonly keptMs?: number
  /** Retention of request bodies, attempts and calls, in milliseconds; 14 days, and never longer than `keptMs`. */
  readonly contentsKeptMs?: number
  /** Retention of the audit trail, in milliseconds; 730 days. */
  readonly auditKeptMs?: number
}
