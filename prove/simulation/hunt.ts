// A process of its own for one planted bug: node prove/simulation/hunt.ts NUMBER SEEDS. Prints the first seed that finds it, as JSON.

import { bugs, plant } from './bugs.ts'

const [number = '0', seeds = '2000'] = process.argv.slice(2)
const bug = bugs[Number(number)]
if (!bug) throw new Error(`there is no planted bug ${number}`)
plant(bug)
const { runSeed } = await import('./run-seed.ts')
for (let seed = 1; seed <= Number(seeds); seed++) {
  const { violation } = await runSeed(seed)
  if (violation === undefined) continue
  console.log(JSON.stringify({ seed, violation: violation.slice(0, 200) }))
  process.exit()
}
console.log(JSON.stringify({}))
