// Readers type the shell commands of the documentation, so each must work unchanged, in the order of its page.

import assert from 'node:assert/strict'
import test from 'node:test'
import { fencedSnippets, pages, type Snippet } from './blocks.ts'
import { openWorld } from './world.ts'

test('every shell command of README and docs does what its page says', async (t) => {
  const { shell, prepare } = await openWorld(t)
  const wrong: string[] = []
  let commands = 0
  const skipped = new Set<string>()
  for (const page of inOrder) {
    await prepare(page)
    for (const { from, text } of shellBlocks(page)) {
      const reason = Object.entries(notRun).find(([start]) => text.startsWith(start))
      if (reason) {
        skipped.add(reason[0])
        continue
      }
      await prepare(text)
      commands++
      const { out, failed } = await shell.run(text)
      if (failed && !failed.includes('exit code 1: bellwire reconcile'))
        wrong.push(`${from}\n${text}\n${failed}\n${out}`)
      else if (text.includes('# Send it again: the same push_id')) {
        const again = await shell.run(text.slice(0, text.indexOf('\n\n')))
        if (!out.startsWith(again.out.trim())) wrong.push(`${from}\nsent again\n${again.out}\n${out}`)
      }
      if (!failed)
        for (const expected of printed(text))
          if (!matches(out, shell.here(expected))) wrong.push(`${from}\nexpected\n${expected}\nprinted\n${out}`)
    }
  }
  assert.equal(wrong.join('\n=======\n'), '')
  assert.deepEqual([...skipped].sort(), Object.keys(notRun).sort())
  assert.ok(commands >= 40, String(commands))
})

/** The blocks that cannot run here, by their beginning, each with its reason. */
const notRun: Readonly<Record<string, string>> = {
  'npm ci && npm run demo': 'installs from the registry; test/e2e/demo.test.ts runs the demo',
  'npm ci && npm test': 'installs from the registry',
  'npm install bellwire': 'installs from the registry; test/package.test.ts installs the package',
  'npx bellwire init operator --push web-push': 'needs a browser; test/e2e/web-push-chromium.test.ts runs it',
  'npm install @opentelemetry': 'installs from the registry; test/cli/traces.test.ts has a collector',
  'npm run bench': 'takes minutes',
  'bash node_modules/bellwire/deploy/container/build.sh': 'takes minutes; npm run first-start runs it',
  'umoci unpack': 'needs the image; npm run first-start runs it',
  'BELLWIRE_MOVE_TO=': 'needs a PostgreSQL database; test/cli/move.test.ts moves sides',
  'bellwire platform move-brand': 'needs two PostgreSQL databases; test/platform/stores moves brands',
}

/** The last pages pause lanes and erase messages. */
const inOrder = [
  'README.md',
  ...pages.filter((page) => !/README|start|push|devices|lanes|running|people/.test(page)),
  'docs/push.md',
  'docs/devices.md',
  'docs/start.md',
  'docs/lanes.md',
  'docs/running.md',
  'docs/people.md',
]

/** A transcript of a terminal becomes a command with its output as comments. */
const shellBlocks = (page: string): Snippet[] =>
  fencedSnippets(page, 'sh', 'console').map((block) =>
    block.text.startsWith('$ ') ? { ...block, text: block.text.slice(2).replaceAll(/^(?!\$ )(?<=\n)/gm, '# ') } : block,
  )

/** Comments that are no output, and the line of `explain` for a device: the provider of the world has none. */
const notPrinted = /^(Send it again|.* {2}device 1 {2}).*\n/gm

/** The lines of output that a block shows after a command: its comments, joined. */
function printed(text: string): string[] {
  return [...text.matchAll(/(?:^# .*\n)+/gm)].map(([lines]) =>
    lines.replaceAll(/^# ?/gm, '').replaceAll(notPrinted, ''),
  )
}

/** Whether the output contains the printed JSON, or the printed lines in this order. Identifiers and times may differ, and numbers of tables. `…` stands for anything. */
function matches(out: string, expected: string): boolean {
  const any = expected
    .trim()
    .replaceAll(/[.*+?^$(){}|[\]\\]/g, '\\$&')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '[0-9a-f-]{36}')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+(\\\.\d+)?Z/g, '[-0-9T:.]+Z')
    .replaceAll(/("\d+", )*\w*…/g, '[^]*?')
    .replaceAll(/\d+-[0-9a-f]{10}/g, '\\d+-[0-9a-f]{10}')
  const pattern = expected.startsWith('{')
    ? any.replaceAll(/\d{10,}/g, '\\d+').replaceAll(/\n\s*/g, '')
    : any
        .replaceAll(/(?<=[ :])\d(?:[\d,]|\\\.\d)*(?=[ ,\n]|$)/g, '[\\d,.]+')
        .replaceAll(/(?<=,\.\]\+ \w+)s\b/g, 's?')
        .replaceAll('\n', '[^]*?\n')
        .replaceAll(/ +/g, ' +')
  return new RegExp(pattern).test(out)
}
