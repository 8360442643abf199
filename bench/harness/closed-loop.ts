import { openConnection } from './connection.ts'
import { fillIds, type RequestKind, requestTemplate } from './requests.ts'

export interface Load {
  readonly port: number
  readonly kind: RequestKind
  readonly connections: number
  readonly seconds: number
  /** The first activity.id. Ids are never used twice with one store. */
  readonly fromId: number
}

export interface Loaded {
  readonly requests: number
  readonly messages: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU of the load generator: below one core, it is not the limit. */
  readonly cpuUs: number
}

/**
 * Keeps one request in flight on each of N raw sockets. A request is a prepared buffer. Of an answer only status and length
 * are read (of every 64th the whole body). This is several times cheaper than a server that parses.
 */
export async function closedLoop(load: Load): Promise<Loaded> {
  const latencies: number[] = []
  let id = load.fromId
  let until = Number.POSITIVE_INFINITY
  const connections = await Promise.all(
    Array.from({ length: load.connections }, async (_, n) => {
      const template = requestTemplate(load.kind, n)
      const connection = await openConnection(load.port)
      const run = async (): Promise<void> => {
        let count = 0
        while (performance.now() < until) {
          fillIds(template, id)
          id += template.messages
          const sent = performance.now()
          const full = count++ % 64 === 0
          const body = await connection.exchange(template.bytes, full)
          latencies.push(performance.now() - sent)
          if (full) checkAnswer(body, load.kind.batch)
        }
      }
      return { run, connection }
    }),
  )
  const cpu = process.cpuUsage()
  const began = performance.now()
  until = began + load.seconds * 1000
  try {
    await Promise.all(connections.map(({ run }) => run()))
  } finally {
    // After a failure the other connections must stop.
    until = 0
    for (const { connection } of connections) connection.close()
  }
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  latencies.sort((a, b) => a - b)
  const percentile = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? Number.NaN
  return {
    requests: latencies.length,
    messages: latencies.length * Math.max(1, load.kind.batch),
    seconds,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
    cpuUs: user + system,
  }
}

/** Fails if the server refused the messages: refusals would look fast. */
function checkAnswer(body: string, batch: number): void {
  const answer = JSON.parse(body) as { push_id?: unknown; successful?: readonly { push_id?: unknown }[] }
  const identifiers = batch ? (answer.successful ?? []).filter((item) => typeof item.push_id === 'string').length : 1
  const right = batch ? identifiers === batch : typeof answer.push_id === 'string'
  if (!right) throw new Error(`the server did not accept the messages: ${body.slice(0, 300)}`)
}
