// Traces of the command line, by the standard variables of OpenTelemetry. An embedding server has an SDK of its own.

import type * as Sdk from '@opentelemetry/sdk-node'
import { loadPackage, missingPackage } from '../../base/runtime/optional-package.ts'
import { within } from '../../base/runtime/within.ts'
import { CliError, exit } from './exit.ts'

export interface Tracing {
  /** Exports the ended spans, for at most this time. Never rejects. @returns whether the receiver has all of them */
  stop(withinMs: number): Promise<boolean>
}

/**
 * Starts the SDK if a variable asks for traces: OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT.
 * The SDK reads all other variables itself. While the receiver is away, it keeps at most 2,048 spans and drops further ones.
 *
 * @throws CliError with the install command if the package of the SDK is missing
 */
export function startTracing(side: 'operator' | 'platform', env: NodeJS.ProcessEnv = process.env): Tracing | undefined {
  const {
    OTEL_TRACES_EXPORTER: exporter,
    OTEL_EXPORTER_OTLP_ENDPOINT: all,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own,
  } = env
  const wanted = exporter ? exporter !== 'none' : Boolean(all || own)
  if (!wanted || env.OTEL_SDK_DISABLED === 'true') return undefined
  const missing = missingPackage('@opentelemetry/sdk-node')
  if (missing) throw new CliError(exit.usage, `tracing (OTEL_…) ${missing.description}: ${missing.remedy}`)
  const { NodeSDK } = loadPackage<typeof Sdk>('@opentelemetry/sdk-node', 'tracing')
  const sdk = new NodeSDK({
    ...(!env.OTEL_SERVICE_NAME && { serviceName: `bellwire-${side}` }),
    metricReaders: [],
    logRecordProcessors: [],
  })
  sdk.start()
  return {
    async stop(withinMs) {
      try {
        await within(withinMs, sdk.shutdown())
        return true
      } catch (error) {
        console.error(`bellwire: the last traces were not exported: ${(error as Error).message}`)
        return false
      }
    },
  }
}
