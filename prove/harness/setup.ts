// The processes of a proof: a witness, operators and a platform. Their stores and ports stay the same after restarts.

import { openSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../test/support/free-port.ts'
import { type OperatorPlan, type PlatformPlan, planVariable, witnessVariable } from '../plans.ts'
import { type Strike, strikeVariable } from '../processes/strike.ts'
import { type Process, startProcess } from './process.ts'
import { readWitnessReport, type WitnessReport } from './witness-report.ts'

export interface SetupOptions {
  readonly folder: string
  readonly operatorStore?: string
  readonly platformStore?: string
  readonly operators?: number
  readonly platforms?: number
  readonly operator?: Omit<OperatorPlan, 'store' | 'port'>
  readonly lane?: PlatformPlan['lane']
  /** A file for the output of operators and platforms. Default: their stdout is inherited. */
  readonly log?: string
}

export interface ProofSetup {
  readonly platformUrl: string
  readonly platformUrls: readonly string[]
  readonly operatorUrls: readonly string[]
  /** Starts an operator. `strike` defines where the process kills or stops itself. Default index: 0. */
  operator(strike?: Strike, index?: number): Process
  /** @param program 'next-platform': the platform of the next release */
  platform(strike?: Strike, index?: number, program?: 'next-platform'): Process
  readReport(): Promise<WitnessReport>
}

/** Defines where a running process kills or stops itself. */
export async function planStrike(process: Process, strike: Strike): Promise<void> {
  await process.ready
  await process.ask(strike)
}

export async function createSetup(options: SetupOptions): Promise<ProofSetup> {
  const { folder, operators = 1, platforms = 1 } = options
  const file = join(folder, 'witness.ndjson')
  const witness = startProcess(new URL('../processes/witness.ts', import.meta.url), { args: [file] })
  const { port: witnessPort } = (await witness.ready) as { port: number }
  const ports = await Promise.all(Array.from({ length: operators + platforms }, freePort))
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const operatorUrls = urls.slice(0, operators)
  const platformUrls = urls.slice(operators)

  const output = options.log === undefined ? undefined : openSync(options.log, 'a')
  const start = (side: string, plan: object, strike: Strike | undefined, program = side): Process =>
    startProcess(new URL(`../processes/${program}.ts`, import.meta.url), {
      preload: new URL(`../processes/${side}-strikes.ts`, import.meta.url),
      ...(output !== undefined && { output }),
      env: {
        [planVariable]: JSON.stringify(plan),
        [witnessVariable]: String(witnessPort),
        ...(strike && { [strikeVariable]: JSON.stringify(strike) }),
      },
    })
  return {
    platformUrl: platformUrls[0] as string,
    platformUrls,
    operatorUrls,
    operator(strike, index = 0) {
      const store = options.operatorStore ?? `sqlite:${join(folder, 'operator.db')}`
      const plan: OperatorPlan = { ...options.operator, store, port: ports[index] as number }
      return start('operator', plan, strike)
    },
    platform(strike, index = 0, program) {
      const store = options.platformStore ?? `sqlite:${join(folder, 'platform.db')}`
      const lane = options.lane
      const plan: PlatformPlan = {
        store,
        port: ports[operators + index] as number,
        operators: operatorUrls,
        ...(lane && { lane }),
      }
      return start('platform', plan, strike, program)
    },
    readReport: () => readWitnessReport(file),
  }
}
