// A thread that sends one message after another and reports the time of each.

import { Agent, request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import type { LatencyPlan, Sample } from '../harness/latency.ts'

const { url, key, body, restMs } = workerData as LatencyPlan
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const headers = { 'content-type': 'application/json', 'x-api-key': key }
let id = Date.now() * 1_000

for (;;) {
  const began = performance.now()
  const status = await send(body.replace('ID', String(++id)))
  const sample: Sample = { at: Date.now(), ms: performance.now() - began, status }
  parentPort?.postMessage(sample)
  await new Promise((resolve) => setTimeout(resolve, restMs))
}

/** @returns the status, or 0 without an answer */
function send(text: string): Promise<number> {
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', agent, headers, timeout: 30_000 }, (response) => {
      response.resume().on('close', () => resolve(response.statusCode ?? 0))
    })
    sent.on('timeout', () => sent.destroy(new Error('no answer within 30 s')))
    sent.on('error', () => resolve(0))
    sent.end(text)
  })
}
