// Which devices a user has, where you keep them yourself. See devices.yaml.

import type { Device, DeviceSource } from 'bellwire'

const linkedAt = '2026-01-01T00:00:00Z'
const pager = (brand: string, userId: string, token: string): Device => ({
  brand,
  userId,
  token,
  kind: 'http:pager',
  linkedAt,
})

// User 1001 of brand 1 has two pagers, one of which is lost; user 1001 of brand 2 is somebody else.
const devices = [pager('1', '1001', 'pager-7'), pager('1', '1001', 'pager-lost'), pager('2', '1001', 'pager-8')]

export const source: DeviceSource = {
  name: 'pagers',
  async of(brand, userIds) {
    const theirs = devices.filter((device) => device.brand === brand && userIds.includes(device.userId))
    return Map.groupBy(theirs, (device) => device.userId)
  },
  async holders(brand, tokens) {
    const named = devices.filter((device) => device.brand === brand && tokens.includes(device.token))
    return new Map(named.map((device) => [device.token, device]))
  },
}
