import { Command } from 'commander'
import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { Arrival } from '../../fake/arrival.ts'
import { localUrl } from '../../fake/control.ts'
import { waitForSignal } from '../interruptible.ts'
import { toJson } from '../output.ts'
import { explain, port, shownTimeOfDay } from './common.ts'

interface Options {
  readonly host: string
  readonly port: number
  readonly key: string
  readonly brand: readonly string[]
  readonly users?: string
  readonly json?: true
}

/** An operator with faults on request, for the development of a platform. */
export function fakeOperatorCommand(): Command {
  return new Command('operator')
    .description('run an operator in memory whose behaviour you change while it runs')
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <number>', 'the port; 0 chooses a free one', port, 4800)
    .option('--key <key>', 'the API key that the platform sends as X-Api-Key', 'example-operator-key-1')
    .option('--brand <brand...>', 'the brands for which the key may send', ['1'])
    .option('--users <file>', 'a CSV or NDJSON file of user attributes; without it, no user is blocked')
    .option('--json', 'print one JSON object per received request')
    .addHelpText('after', help)
    .action(run)
}

async function run({ host, port, key, brand: brands, users, json }: Options): Promise<void> {
  const { startFakeOperator } = await import('../../fake/fake-operator.ts')
  const fake = await startFakeOperator({
    host,
    port,
    apiKey: key,
    brands,
    ...(users !== undefined && { users }),
    onArrival: (arrival) => console.log(json ? toJson(arrival) : lineOf(arrival)),
  }).catch(explain)
  const stopped = waitForSignal()
  if (json) console.log(toJson({ event: 'running', url: fake.url, key, brands }))
  else console.log(introduction(fake.url, key, brands))
  await stopped
  await fake.close()
}

function introduction(url: string, key: string, brands: readonly string[]): string {
  return `A fake operator is running, in memory. Nothing is delivered.

  base_url   ${url}
  X-Api-Key  ${key}
  brands     ${brands.join(', ')}

Answer every third request with 500:

  curl ${localUrl(url)}/fake/behaviours -H 'content-type: application/json' -d '{"every": 3, "answer": {"status": 500}}'

Received requests:
`
}

/** @example '12:01:02.123  push/batch      3 messages  200  fatal forced' */
function lineOf({ at, endpoint, messages, status, behaviour }: Arrival): string {
  const time = shownTimeOfDay(at)
  const count = endpoint === 'reconciliation' ? '' : phraseCount(messages.length, 'message')
  const columns = [time, endpoint.padEnd(14), count.padEnd(14), String(status ?? 'no answer').padEnd(9)]
  return [...columns, behaviour ? JSON.stringify(behaviour) : ''].join('  ').trimEnd()
}

const help = `
The fake operator follows the interface to the letter, until you add behaviours. They apply at once:

  POST /fake/behaviours   {"endpoint"?, "user"?, "every"?, "times"?, and one of:
                           "answer": {"status": 500, "headers"?: {"retry-after": "7"}, "body"?: "…"}
                           "delay_ms": 5000 | "hang": true
                           "cut": "before" | "after"     the connection is cut; after: the messages were delivered
                           "outcome": "failed" | "fatal" | "absent"}     of each message
  GET /fake/behaviours    lists them; DELETE removes all, DELETE /fake/behaviours/ID removes one
  GET /fake/arrivals      ?after=10 lists the received requests

"endpoint" is push/single, push/batch, site/single, site/batch or reconciliation. Only programs on this machine may use /fake.

Examples:
  bellwire fake operator
  bellwire fake operator --port 0 --brand 1 2 --users users.csv --json
`
