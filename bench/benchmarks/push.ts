import type { Benchmark, Contender } from '../harness/benchmark.ts'
import { type Child, startChild } from '../harness/child.ts'
import { childContender } from '../harness/child-contender.ts'
import {
  batchOf1000,
  contender,
  type Side,
  single,
  startGenerator,
  type Traffic,
} from '../harness/operator-contender.ts'
import { profiled } from '../harness/profile.ts'
import type { PushKind, PushTarget } from '../harness/push-target.ts'
import { sqliteStore } from '../harness/stores.ts'

type Method = 'service' | 'client' | 'node:http2' | 'encryption'

const services: Record<PushKind, string> = { fcm: 'FCM', apns: 'APNs', 'web-push': 'Web Push' }
/** A typical latency of a nearby push service. */
const latencyMs = 20

export const pushBenchmarks: readonly Benchmark[] = [
  serviceBenchmark('push-fcm', 0.8, 'fcm', 'client', 'a bare loop of our HTTP/2 client, the same bytes'),
  serviceBenchmark('push-fcm-http2', 0.6, 'fcm', 'node:http2', 'a bare loop of node:http2, the same bytes'),
  serviceBenchmark('push-apns', 0.8, 'apns', 'client', 'a bare loop of our HTTP/2 client, the same bytes'),
  serviceBenchmark('push-apns-http2', 0.6, 'apns', 'node:http2', 'a bare loop of node:http2, the same bytes'),
  serviceBenchmark(
    'push-web-push',
    0.5,
    'web-push',
    'encryption',
    'only encryption, by the library web-push, without sending',
  ),
  ...(['fcm', 'apns'] as const).flatMap((kind) => [
    // The CPU of a message is at most 0.25 of that of the baseline, and 0.35 with latency.
    clientBenchmark(`push-client-${kind}`, kind, 4, 0),
    clientBenchmark(`push-client-${kind}-far`, kind, 2.86, latencyMs),
    operatorBenchmark(kind),
    singleBenchmark(kind),
    latencyBenchmark(kind),
  ]),
]

function serviceBenchmark(name: string, goal: number, kind: PushKind, method: Method, baseline: string): Benchmark {
  return {
    name,
    goal,
    baseline,
    about: `${services[kind]}, 100 concurrent sends over one ${kind === 'web-push' ? 'pool' : 'connection'}`,
    async start({ profileTo }) {
      const { target, sink } = await startSink(kind)
      return {
        subject: await startSender('service', target, profiled(profileTo, 'subject')),
        baseline: await startSender(method, target, [], sink),
      }
    },
  }
}

function clientBenchmark(name: string, kind: PushKind, goal: number, latency: number): Benchmark {
  const far = latency === 0 ? '' : `, with a latency of ${latency} ms`
  return {
    name,
    goal,
    by: 'CPU',
    baseline: 'a bare loop of node:http2, the same bytes',
    about: `our HTTP/2 client, ${services[kind]}, 100 concurrent sends over one connection${far}: CPU per message`,
    async start({ profileTo }) {
      const { target, sink } = await startSink(kind, latency)
      return {
        subject: await startSender('client', target, profiled(profileTo, 'subject')),
        baseline: await startSender('node:http2', target, [], sink),
      }
    },
  }
}

function operatorBenchmark(kind: 'fcm' | 'apns'): Benchmark {
  return {
    name: `push-operator-${kind}`,
    goal: 0.55,
    by: 'CPU',
    baseline: 'a bare loop of node:http2, the same bytes',
    about: `receive batches of 1,000, claim, ${services[kind]}, settle on SQLite, answer: CPU per message`,
    async start({ profileTo }) {
      const { target, sink } = await startSink(kind)
      return {
        subject: await startOperator(services[kind], target, profiled(profileTo, 'subject'), {}),
        baseline: await startSender('node:http2', target, [], sink),
      }
    },
  }
}

function singleBenchmark(kind: 'fcm' | 'apns'): Benchmark {
  return {
    name: `push-single-${kind}`,
    goal: 0.4,
    by: 'CPU',
    baseline: 'bare node:http + JSON.parse + node:http2, no store',
    about: `receive single messages, claim, ${services[kind]}, settle on SQLite, answer: CPU per message (64 connections, 1 kB)`,
    async start({ profileTo }) {
      const { target, sink } = await startSink(kind)
      const traffic = single(64)
      return {
        subject: await startOperator(services[kind], target, profiled(profileTo, 'subject'), { traffic }),
        baseline: await startBareServer(target, traffic, sink),
      }
    },
  }
}

function latencyBenchmark(kind: 'fcm' | 'apns'): Benchmark {
  return {
    name: `push-latency-${kind}`,
    goal: 0.9,
    baseline: 'the same operator with a provider that answers at once',
    about: `batches of 1,000 through ${services[kind]} with a latency of ${latencyMs} ms, SQLite`,
    async start({ profileTo }) {
      const [near, far] = [await startSink(kind), await startSink(kind, latencyMs)]
      return {
        subject: await startOperator(`${latencyMs} ms`, far.target, profiled(profileTo, 'subject'), { sink: far.sink }),
        baseline: await startOperator('0 ms', near.target, [], { sink: near.sink }),
      }
    },
  }
}

async function startSink(kind: PushKind, latency = 0): Promise<{ target: PushTarget; sink: Child }> {
  const sink = await startChild('push-sink.ts', { part: 'driver', args: [kind, String(latency)] })
  return { sink, target: await sink.call<PushTarget>('target') }
}

/** @param sink stopped with the contender */
async function startSender(
  method: Method,
  target: PushTarget,
  nodeArgs: readonly string[],
  sink?: Child,
): Promise<Contender> {
  const child = await startChild('push-sender.ts', {
    part: 'server',
    args: [method, JSON.stringify(target)],
    nodeArgs,
  })
  return childContender({
    name: method === 'service' ? 'our service' : `a bare loop of ${method}`,
    child,
    run: (seconds) => child.call<{ messages: number; seconds: number }>('send', seconds),
    release: async () => sink?.stop(),
  })
}

/** @param options.sink stopped with the contender */
async function startOperator(
  name: string,
  target: PushTarget,
  nodeArgs: readonly string[],
  { traffic = batchOf1000, sink }: { readonly traffic?: Traffic; readonly sink?: Child },
): Promise<Contender> {
  const store = await sqliteStore()
  const args = [store.url, JSON.stringify(target)]
  const side = { name: `operator, ${name}`, program: 'push-operator.ts', args, cleanUp: () => store.remove() }
  return startServer(traffic, side, nodeArgs, sink)
}

function startBareServer(target: PushTarget, traffic: Traffic, sink: Child): Promise<Contender> {
  const args = [JSON.stringify(target)]
  const side = { name: 'bare node:http2', program: 'push-bare.ts', args, cleanUp: async () => {} }
  return startServer(traffic, side, [], sink)
}

async function startServer(
  traffic: Traffic,
  side: Side,
  nodeArgs: readonly string[],
  sink?: Child,
): Promise<Contender> {
  const generator = await startGenerator()
  return contender(traffic, side, generator, nodeArgs, async () => {
    await generator.stop()
    await sink?.stop()
  })
}
