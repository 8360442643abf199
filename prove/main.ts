// npm run prove                 lists the proofs
// npm run prove -- NAME …       runs proofs in full size (--small: in the size of npm test); the last line of each is JSON

import { parseArgs } from 'node:util'
import { endProcesses } from './harness/process.ts'
import type { Proof } from './harness/proof.ts'
import { runProof } from './harness/run-proof.ts'
import { proofs } from './list.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean', default: false }, small: { type: 'boolean', default: false } },
})
// A process that is stopped by SIGSTOP would not end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void endProcesses().then(() => process.exit(130)))

const chosen = values.all ? proofs : positionals.map(findProof)
if (chosen.length === 0) printList()
for (const proof of chosen) await printProof(proof)
// A failed proof may have left servers of this process open.
if (process.exitCode) process.exit()

function printList(): void {
  console.log('npm run prove -- NAME [--small]\n')
  const width = Math.max(...proofs.map(({ name }) => name.length))
  for (const { name, claims, boundSeconds } of proofs) {
    console.log(`${name.padEnd(width)}  ${claims} (at most ${Math.round(boundSeconds.full / 60)} min)`)
  }
}

async function printProof(proof: Proof): Promise<void> {
  console.log(`\n${proof.name}: ${proof.claims}`)
  const { ok, figures, error, kept } = await runProof(proof, values.small, (line) => console.log(`  ${line}`))
  if (!ok) {
    console.log(`${error}\nthe evidence is kept in ${kept}`)
    process.exitCode = 1
  }
  console.log(JSON.stringify({ name: proof.name, ok, ...figures }))
}

function findProof(name: string): Proof {
  const found = proofs.find((proof) => proof.name === name)
  if (found) return found
  console.error(`there is no proof '${name}'; npm run prove lists them`)
  process.exit(2)
}
