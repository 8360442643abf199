import assert from 'node:assert/strict'
import test from 'node:test'
import type { Proof } from '../../prove/harness/proof.ts'
import { runProof } from '../../prove/harness/run-proof.ts'
import { proofs } from '../../prove/list.ts'
import { goService } from '../support/services/go.ts'
import { nghttpdService, nginxService } from '../support/services/http2-servers.ts'
import { kafkaService } from '../support/services/kafka.ts'
import { postgresService } from '../support/services/postgres.ts'
import { rabbitmqService } from '../support/services/rabbitmq.ts'
import { without } from '../support/services/service.ts'

const services = {
  postgres: postgresService,
  rabbitmq: rabbitmqService,
  kafka: kafkaService,
  go: goService,
  nghttpd: nghttpdService,
  nginx: nginxService,
}

/** Runs proofs in small size. `npm run prove -- NAME` runs the same code in full size. */
export async function runSmall(belongs: (proof: Proof) => boolean): Promise<void> {
  for (const proof of proofs.filter(belongs)) {
    const skip = await without(...(proof.needs ?? []).map((need) => services[need]))
    test(`${proof.name}: ${proof.claims}`, { skip, timeout: proof.boundSeconds.small * 1_000 + 60_000 }, async (t) => {
      const verdict = await runProof(proof, true, (line) => t.diagnostic(line))
      t.diagnostic(JSON.stringify(verdict.figures))
      assert.ok(verdict.ok, `${verdict.error}\nthe evidence is kept in ${verdict.kept}`)
    })
  }
}
