import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import test from 'node:test'
import { LazySignal } from '../../src/runtime/lazy-signal.ts'

test('a signal follows its parent, is aborted by itself, and is right whenever it is asked for', () => {
  const parent = new AbortController()
  const early = new LazySignal(parent.signal)
  const signal = early.signal
  assert.equal(early.signal, signal)
  const own = new LazySignal(parent.signal)
  own.abort(new Error('late'))
  assert.equal(own.signal.reason.message, 'late')
  assert.equal(parent.signal.aborted, false)
  parent.abort(new Error('stopping'))
  assert.equal(signal.reason.message, 'stopping')
  assert.equal(new LazySignal(parent.signal).signal.aborted, true)
})

test('one that nobody asked for listens to nobody, and none does when it is over', () => {
  const parent = new AbortController()
  const unasked = new LazySignal(parent.signal)
  assert.equal(getEventListeners(parent.signal, 'abort').length, 0)
  unasked.signal
  assert.equal(getEventListeners(parent.signal, 'abort').length, 1)
  unasked.end()
  assert.equal(getEventListeners(parent.signal, 'abort').length, 0)
})
