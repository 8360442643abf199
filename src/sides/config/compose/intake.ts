import { defaultIntakeName, type IntakeConfig } from '../../../subjects/settings/intake.ts'
import type { IntakeSource } from '../../platform/options.ts'
import { createConsumer } from './consumer.ts'

export function intakeChannel({ from, channel, brands }: IntakeConfig): IntakeSource {
  return {
    consumer: createConsumer(from, defaultIntakeName(channel)),
    ...(channel && { channel }),
    ...(brands && { brands }),
  }
}
