import { defaultIntakeName, type IntakeConfig } from '../../../subjects/settings/intake.ts'
import type { IntakeSource } from '../../platform/options.ts'
import { createConsumer } from './consumer.ts'

export async function intakeChannel({ from, channel, brands }: IntakeConfig, index: number): Promise<IntakeSource> {
  return {
    consumer: await createConsumer(from, defaultIntakeName(channel), `platform.intake[${index}].from`),
    ...(channel && { channel }),
    ...(brands && { brands }),
  }
}
