// A canary: one real message to a test user, through each configured side to the provider. Its result is an exit code, and a file of metrics.

import { readFile, rename, writeFile } from 'node:fs/promises'
import { clock } from '../../../base/runtime/clock.ts'
import { messageOf } from '../../../base/runtime/message-of.ts'
import type { Channel } from '../../../contract/endpoints.ts'
import { loadConfig } from '../../../sides/config/load.ts'
import { CliError, exit } from '../exit.ts'
import { newId, type OneMessage, onlyBrand, sendToOperator, sendToPlatform } from '../push/one-message.ts'
import { allSuccessful, type Summary } from '../send/summary.ts'

export interface Canary extends Omit<OneMessage, 'body' | 'timeout'> {
  readonly config?: string
  readonly timeoutMs: number
}

/** The output of `bellwire doctor --send --json`. */
export interface CanaryResult {
  readonly ok: boolean
  /** The side that received it. */
  readonly through: 'platform' | 'operator'
  readonly activity_id: string
  readonly brand: string
  readonly channel: Channel
  readonly seconds: number
  /** Why it was not delivered. */
  readonly error?: string
}

/** @throws CliError if no message can be made of the options and the configuration */
export async function sendCanary(canary: Canary): Promise<CanaryResult> {
  const { platform, operator } = await loadConfig(canary.config)
  if (!platform && !operator)
    throw new CliError(exit.usage, 'no section operator or platform is configured: give --config')
  const { channel, timeoutMs } = canary
  const lanes = platform?.lanes.filter((lane) => lane.channel === channel).map((lane) => lane.brand)
  const brand = canary.brand ?? onlyBrand(lanes ?? operator?.keys.flatMap(({ brands }) => brands) ?? [])
  const message = { ...canary, brand, timeout: timeoutMs, patience: timeoutMs }
  const id = newId()
  const startedAt = clock.monotonic()
  const send = platform || !operator ? sendToPlatform(message, id).then(errorOf) : sendToOperator(operator, message, id)
  const error = await send.catch((thrown: unknown) => {
    if (thrown instanceof CliError && thrown.exitCode === exit.usage) throw thrown
    return messageOf(thrown)
  })
  return {
    ok: error === undefined,
    through: platform ? 'platform' : 'operator',
    activity_id: id,
    brand,
    channel,
    seconds: Math.round(clock.monotonic() - startedAt) / 1000,
    ...(error !== undefined && { error }),
  }
}

/** @returns why the message was not delivered */
function errorOf(summary: Summary): string | undefined {
  if (allSuccessful(summary)) return undefined
  const { reasons, waiting_reasons: waiting, refused_lines: refused } = summary
  const [reason, seen] = Object.entries({ ...reasons, ...waiting })[0] ?? []
  return refused[0]?.error ?? (seen ? `${reason}: ${seen.example}` : 'no outcome in time')
}

/** Writes the result for the textfile collector of node_exporter. The time of the last success is kept from the file before. */
export async function writeMetrics(file: string, { ok, brand, channel, seconds }: CanaryResult): Promise<void> {
  const now = Math.floor(clock.now() / 1000)
  const labels = `{brand="${brand}",channel="${channel}"}`
  const lastSuccess = ok ? now : Number(/^bellwire_canary_last_success_\S+ (\d+)$/m.exec(await textOf(file))?.[1] ?? 0)
  const metrics = {
    bellwire_canary_up: ['1 if the latest canary message was delivered.', Number(ok)],
    bellwire_canary_seconds: ['Duration of the latest canary message.', seconds],
    bellwire_canary_last_run_timestamp_seconds: ['Time of the latest canary message.', now],
    bellwire_canary_last_success_timestamp_seconds: [
      'Time of the latest canary message that was delivered; 0: none.',
      lastSuccess,
    ],
  } as const
  const text = Object.entries(metrics).map(
    ([name, [help, value]]) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name}${labels} ${value}\n`,
  )
  try {
    // node_exporter must never read half of a file. It runs as another user.
    await writeFile(`${file}.new`, text.join(''), { mode: 0o644 })
    await rename(`${file}.new`, file)
  } catch (error) {
    throw new CliError(exit.usage, `--metrics-file cannot be written: ${messageOf(error)}`)
  }
}

const textOf = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '')
