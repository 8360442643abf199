import type { Benchmark } from '../harness/benchmark.ts'
import { bareServer, batchOf1000, compareServers, operatorWithoutStore, single } from '../harness/operator-contender.ts'

const baseline = 'bare node:http + JSON.parse, with an identifier for each message in the answer'

export const ingestSingle: Benchmark = {
  name: 'ingest-single',
  goal: 0.7,
  baseline,
  about: 'single sends, no store: the cost of authentication, validation and answer (64 connections, 1 kB)',
  start: (options) => compareServers(single(64), operatorWithoutStore, bareServer, options),
}

export const ingestBatch: Benchmark = {
  name: 'ingest-batch',
  goal: 0.55,
  baseline,
  about: 'batches of 1,000 messages of 400 B, no store (4 connections)',
  start: (options) => compareServers(batchOf1000, operatorWithoutStore, bareServer, options),
}
