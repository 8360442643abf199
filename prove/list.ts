import type { Proof } from './harness/proof.ts'
import { brands } from './proofs/brands.ts'
import { exactlyOnce, exactlyOncePostgres } from './proofs/exactly-once.ts'
import { kills } from './proofs/kills.ts'
import { resend } from './proofs/resend.ts'

export const proofs: readonly Proof[] = [exactlyOnce, exactlyOncePostgres, kills, resend, brands]
