#!/usr/bin/env node
'use strict'
// The `bellwire` command. It is plain JavaScript, so that a version of Node that is too old can still read it and say so.

const { existsSync } = require('fs')
const { join } = require('path')
const { pathToFileURL } = require('url')

const needed = require('../package.json').engines.node.replace('>=', '')

if (isOlder(process.versions.node, needed)) {
  console.error(
    `Bellwire needs Node ${needed} or later; this is ${process.version}. Install a newer one in your project (npm install node@24), with your version manager (nvm install --lts), or from https://nodejs.org`,
  )
  process.exit(1)
}

// A side reads its configuration later, and notes each SIGHUP then. Without a listener, the signal would end the process.
const [command, option = '-'] = process.argv.slice(2)
if ((command === 'operator' || command === 'platform') && option.startsWith('-')) process.on('SIGHUP', () => {})

// Node 22 and the first releases of 24 call two things experimental that Bellwire is tested with on each of them.
const emitWarning = process.emitWarning
process.emitWarning = (warning, ...rest) => {
  if (!/^(SQLite|Type Stripping) is an experimental feature/.test(warning)) emitWarning.call(process, warning, ...rest)
}

let ended = false
// Nothing is left to wait for, and the command has not ended: that is a fault of ours, and no success.
process.once('beforeExit', () => {
  if (!ended) process.exitCode = 13
})

// A checkout has the sources, the package has what was built from them.
const source = join(__dirname, '../src/tools/cli/main.ts')
const cli = existsSync(source) ? source : join(__dirname, '../dist/tools/cli/main.js')
import(pathToFileURL(cli).href)
  .then(({ main }) => main(process.argv.slice(2)))
  .then((code) => {
    ended = true
    process.exitCode = code
  })

function isOlder(version, than) {
  const parts = version.split('.').map(Number)
  const [major, minor] = than.split('.').map(Number)
  return parts[0] < major || (parts[0] === major && parts[1] < minor)
}
