import assert from 'node:assert/strict'
import test from 'node:test'
import { isPublic } from '../../../src/subjects/providers/web-push/addresses.ts'

test('addresses on the internet are public', () => {
  for (const address of [
    '8.8.8.8',
    '142.250.74.42',
    '172.32.0.1',
    '100.128.0.1',
    '2a00:1450:4001:80b::200a',
    '64:ff9b::8.8.8.8',
  ])
    assert.ok(isPublic(address), address)
})

test('addresses of this machine, its network, its carrier and its cloud are not public, in any notation', () => {
  for (const address of [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8',
    '0:0:0:0:0:ffff:a00:1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a00:1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001::7f00:1',
    '2001:db8::1',
    '2002:7f00:1::',
  ])
    assert.ok(!isPublic(address), address)
})

test('a text that is not an IP address is not public', () => {
  for (const text of ['', 'localhost', '127.1', '2130706433', '0x7f000001', '8.8.8.8.8'])
    assert.ok(!isPublic(text), text)
})
