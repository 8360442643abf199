import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { runProof } from '../../prove/harness/run-proof.ts'
import { proofs } from '../../prove/list.ts'
import { nghttpdService, nginxService, promtoolService } from '../support/services/debian-programs.ts'
import { goService } from '../support/services/go.ts'
import { kafkaService } from '../support/services/kafka.ts'
import { postgresService } from '../support/services/postgres.ts'
import { rabbitmqService } from '../support/services/rabbitmq.ts'
import { without } from '../support/services/service.ts'
import { shards } from './shards.ts'

const services = {
  postgres: postgresService,
  rabbitmq: rabbitmqService,
  kafka: kafkaService,
  go: goService,
  nghttpd: nghttpdService,
  nginx: nginxService,
  promtool: promtoolService,
}

/** Runs the proofs of a shard in small size. `npm run prove -- NAME` runs the same code in full size. */
export async function runShard(number: number): Promise<void> {
  const listed = shards.flat()
  const names = [...(shards[number - 1] ?? [])]
  if (number === shards.length)
    names.push(
      ...proofs
        .filter(({ onlyByHand }) => !onlyByHand)
        .map(({ name }) => name)
        .filter((name) => !listed.includes(name)),
    )
  // A failed proof may leave a server open, which would hold up the run.
  after(() => setTimeout(() => process.exit(), 5_000).unref())
  for (const name of names) {
    const proof = proofs.find((each) => each.name === name)
    assert.ok(proof, `test/prove/shards.ts: there is no proof '${name}'`)
    const skip = await without(...(proof.needs ?? []).map((need) => services[need]))
    test(`${proof.name}: ${proof.claims}`, { skip, timeout: proof.boundSeconds.small * 1_000 + 60_000 }, async (t) => {
      const verdict = await runProof(proof, true, (line) => t.diagnostic(line))
      t.diagnostic(JSON.stringify(verdict.figures))
      assert.ok(verdict.ok, `${verdict.error}\nthe evidence is kept in ${verdict.kept}`)
    })
  }
}
