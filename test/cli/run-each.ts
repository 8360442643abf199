// A process that runs one command line after another: argv is a JSON list of them. It prints a JSON list of their code, out and err.

import { main } from '../../src/cli/main.ts'
import type { Run } from './bellwire.ts'

const runs: Run[] = []
const { stdout, stderr } = process
const print = stdout.write.bind(stdout)
let out = ''
let err = ''
stdout.write = (text: string | Uint8Array) => {
  out += text
  return true
}
stderr.write = (text: string | Uint8Array) => {
  err += text
  return true
}
for (const args of JSON.parse(process.argv[2] as string) as string[][]) {
  ;[out, err, process.exitCode] = ['', '', undefined]
  runs.push({ code: await main(args), out, err })
}
process.exitCode = 0
print(JSON.stringify(runs))
