import type { Benchmark } from '../harness/benchmark.ts'
import { bareServer, batchOf1000, compareServers, operatorWithoutStore, single } from '../harness/operator-contender.ts'

const baseline = 'bare node:http + JSON.parse, which answers an identifier for each message'

export const ingestSingle: Benchmark = {
  name: 'ingest-single',
  goal: 0.7,
  baseline,
  about: 'single sends, no store: what authentication, validation and the answer cost (64 connections, 1 kB)',
  start: (options) => compareServers(single(64), operatorWithoutStore, bareServer, options),
}

export const ingestBatch: Benchmark = {
  name: 'ingest-batch',
  goal: 0.55,
  baseline,
  about: 'batches of 1,000 messages of 400 B, no store (4 connections)',
  start: (options) => compareServers(batchOf1000, operatorWithoutStore, bareServer, options),
}
