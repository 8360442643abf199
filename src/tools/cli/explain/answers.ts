// The answers of /admin/messages of both sides that `bellwire explain` reads.

import type { AnswerOf } from '../../../sides/admin/calls.ts'

export type PlatformRow = AnswerOf<'platform', 'GET /admin/messages'>['messages'][number]
export type OperatorRow = AnswerOf<'operator', 'GET /admin/messages'>['messages'][number]
