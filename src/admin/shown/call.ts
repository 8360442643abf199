import { Type } from 'typebox'
import { moment, nullable, whole } from '../../contract/documents/described.ts'

/** A call to a provider, as /admin shows it on both sides. */
export const ShownCall = Type.Object({
  id: Type.String(),
  provider: Type.String(),
  at: moment('Start of the call'),
  ms: whole('Duration in milliseconds'),
  messages: whole(),
  rule: Type.String(),
  answer: nullable(Type.String()),
  error: nullable(Type.String()),
})
