import type { Benchmark, Contender } from '../harness/benchmark.ts'
import { type Child, startChild } from '../harness/child.ts'
import { httpContender, startGenerator } from '../harness/http-contender.ts'
import { batchOf1000, trafficKind } from '../harness/operator-contender.ts'
import { profiled } from '../harness/profile.ts'
import type { PushKind, PushTarget } from '../harness/push-target.ts'
import { sqliteStore } from '../harness/stores.ts'

type How = 'service' | 'client' | 'node:http2' | 'encryption'

const server = (name: string): URL => new URL(`../servers/${name}.ts`, import.meta.url)
const services: Record<PushKind, string> = { fcm: 'FCM', apns: 'APNs', 'web-push': 'Web Push' }
/** Of a latency that push services have from nearby. */
const latencyMs = 20

export const pushBenchmarks: readonly Benchmark[] = [
  sending('push-fcm', 0.8, 'fcm', 'client', 'a bare loop of our HTTP/2 client, the same bytes'),
  sending('push-fcm-http2', 0.6, 'fcm', 'node:http2', 'a bare loop of node:http2, the same bytes'),
  sending('push-apns', 0.8, 'apns', 'client', 'a bare loop of our HTTP/2 client, the same bytes'),
  sending('push-apns-http2', 0.6, 'apns', 'node:http2', 'a bare loop of node:http2, the same bytes'),
  sending('push-web-push', 0.5, 'web-push', 'encryption', 'encrypting alone, by the same library, nothing sent'),
  ...(['fcm', 'apns'] as const).flatMap((kind) => [wholeOperator(kind), atLatency(kind)]),
]

function sending(name: string, goal: number, kind: PushKind, against: How, baseline: string): Benchmark {
  return {
    name,
    goal,
    baseline,
    about: `${services[kind]}, 100 sends at a time over one ${kind === 'web-push' ? 'pool' : 'connection'}`,
    async start({ profileTo }) {
      const { target, sink } = await startSink(kind)
      return {
        subject: await sender('service', target, profiled(profileTo, 'subject')),
        baseline: await sender(against, target, [], sink),
      }
    },
  }
}

function wholeOperator(kind: 'fcm' | 'apns'): Benchmark {
  return {
    name: `push-operator-${kind}`,
    goal: 0.4,
    by: 'CPU',
    baseline: 'a bare loop of node:http2, the same bytes',
    about: `batches of 1,000 in, claim, ${services[kind]}, settle on SQLite, answer: CPU a message`,
    async start({ profileTo }) {
      const { target, sink } = await startSink(kind)
      return {
        subject: await operator(`operator, ${services[kind]}`, target, profiled(profileTo, 'subject')),
        baseline: await sender('node:http2', target, [], sink),
      }
    },
  }
}

function atLatency(kind: 'fcm' | 'apns'): Benchmark {
  return {
    name: `push-latency-${kind}`,
    goal: 0.9,
    baseline: 'the same operator with a provider that answers at once',
    about: `batches of 1,000 through ${services[kind]} that takes ${latencyMs} ms to answer, SQLite`,
    async start({ profileTo }) {
      const [near, far] = [await startSink(kind), await startSink(kind, latencyMs)]
      return {
        subject: await operator(`operator, ${latencyMs} ms`, far.target, profiled(profileTo, 'subject'), far.sink),
        baseline: await operator('operator, 0 ms', near.target, [], near.sink),
      }
    },
  }
}

async function startSink(kind: PushKind, latency = 0): Promise<{ target: PushTarget; sink: Child }> {
  const sink = await startChild(server('push-sink'), { part: 'driver', args: [kind, String(latency)] })
  return { sink, target: await sink.ask<PushTarget>('target') }
}

/** @param sink stopped with it */
async function sender(how: How, target: PushTarget, nodeArgs: readonly string[], sink?: Child): Promise<Contender> {
  const child = await startChild(server('push-sender'), {
    part: 'server',
    args: [how, JSON.stringify(target)],
    nodeArgs,
  })
  const send = (seconds: number) => child.ask<{ messages: number; seconds: number }>('send', seconds)
  return {
    name: how === 'service' ? 'our service' : `a bare loop of ${how}`,
    warm: async (seconds) => void (await send(seconds)),
    async round(seconds) {
      const before = await child.ask<number>('cpu')
      const sent = await send(seconds)
      return { ...sent, cpuUs: (await child.ask<number>('cpu')) - before }
    },
    async stop() {
      await child.stop()
      await sink?.stop()
    },
  }
}

/** @param sink stopped with it */
async function operator(
  name: string,
  target: PushTarget,
  nodeArgs: readonly string[],
  sink?: Child,
): Promise<Contender> {
  const store = await sqliteStore()
  const generator = await startGenerator()
  return httpContender({
    name,
    server: server('push-operator'),
    args: [store.url, JSON.stringify(target)],
    nodeArgs,
    kind: trafficKind(batchOf1000),
    connections: batchOf1000.connections,
    generator,
    async cleanUp() {
      await generator.stop()
      await sink?.stop()
      await store.remove()
    },
  })
}
