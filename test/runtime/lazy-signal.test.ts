import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import test from 'node:test'
import { lazySignal } from '../../src/runtime/lazy-signal.ts'

test('a signal follows its parent, is aborted by itself, and is right whenever it is asked for', () => {
  const parent = new AbortController()
  const early = lazySignal(parent.signal)
  const signal = early.get()
  assert.equal(early.get(), signal)
  const own = lazySignal(parent.signal)
  own.abort(new Error('late'))
  assert.equal(own.get().reason.message, 'late')
  assert.equal(parent.signal.aborted, false)
  parent.abort(new Error('stopping'))
  assert.equal(signal.reason.message, 'stopping')
  assert.equal(lazySignal(parent.signal).get().aborted, true)
})

test('one that nobody asked for listens to nobody, and none does when it is over', () => {
  const parent = new AbortController()
  const unasked = lazySignal(parent.signal)
  assert.equal(getEventListeners(parent.signal, 'abort').length, 0)
  unasked.get()
  assert.equal(getEventListeners(parent.signal, 'abort').length, 1)
  unasked.end()
  assert.equal(getEventListeners(parent.signal, 'abort').length, 0)
})
