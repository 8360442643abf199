import type { Benchmark } from '../harness/benchmark.ts'
import {
  bareRows,
  batchOf1000,
  compareServers,
  operatorWith,
  operatorWithoutStore,
  single,
  type Traffic,
} from '../harness/operator-contender.ts'
import { postgresStore, type Store, sqliteStore } from '../harness/stores.ts'

const baseline = 'the same server without a store'

function durable(name: string, goal: number, traffic: Traffic, engine: string, store: () => Promise<Store>): Benchmark {
  const requests = traffic.batch ? `batches of ${traffic.batch.toLocaleString('en')}` : 'single sends'
  return {
    name,
    goal,
    baseline,
    about: `${requests}, claim and settle on ${engine} before the answer (${traffic.connections} connections)`,
    start: async (options) =>
      compareServers(traffic, operatorWith(engine, await store()), operatorWithoutStore, options),
  }
}

/** Against the cost that no server with the same rows can avoid: only receiving, storing and answering. */
function durableRows(name: string, goal: number, engine: string, store: () => Promise<Store>): Benchmark {
  return {
    name,
    goal,
    baseline: 'a bare server that stores the same rows and indexes, with the same grouping',
    about: `batches of 1,000, claim and settle on ${engine} before the answer (4 connections)`,
    start: async (options) =>
      compareServers(batchOf1000, operatorWith(engine, await store()), bareRows(await store()), options),
  }
}

export const durableBenchmarks: readonly Benchmark[] = [
  durable('durable-single-sqlite-64', 0.6, single(64), 'SQLite', sqliteStore),
  durable('durable-single-sqlite-256', 0.85, single(256), 'SQLite', sqliteStore),
  durable('durable-single-postgres-64', 0.35, single(64), 'PostgreSQL', postgresStore),
  durable('durable-single-postgres-256', 0.55, single(256), 'PostgreSQL', postgresStore),
  durable('durable-batch-sqlite', 0.22, batchOf1000, 'SQLite', sqliteStore),
  durable('durable-batch-postgres', 0.14, batchOf1000, 'PostgreSQL', postgresStore),
  durableRows('durable-rows-sqlite', 0.65, 'SQLite', sqliteStore),
  durableRows('durable-rows-postgres', 0.65, 'PostgreSQL', postgresStore),
]
