import { deviceBenchmarks } from './benchmarks/device-links.ts'
import { dispatchBenchmarks } from './benchmarks/dispatch.ts'
import { drain, replayBenchmarks } from './benchmarks/drain.ts'
import { durableBenchmarks } from './benchmarks/durable.ts'
import { endToEnd } from './benchmarks/end-to-end.ts'
import { inboxPush } from './benchmarks/inbox-push.ts'
import { ingestBatch, ingestSingle } from './benchmarks/ingest.ts'
import { loadCeiling } from './benchmarks/load-ceiling.ts'
import { pushBenchmarks } from './benchmarks/push.ts'
import { reconcileBenchmarks } from './benchmarks/reconcile-compare.ts'
import { reconcileStream } from './benchmarks/reconcile-stream.ts'
import type { Benchmark } from './harness/benchmark.ts'

export const benchmarks: readonly Benchmark[] = [
  ingestSingle,
  ingestBatch,
  ...durableBenchmarks,
  drain,
  ...replayBenchmarks,
  ...dispatchBenchmarks,
  endToEnd,
  ...pushBenchmarks,
  reconcileStream,
  ...reconcileBenchmarks,
  ...deviceBenchmarks,
  inboxPush,
  loadCeiling,
]
