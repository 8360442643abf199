// Your own device source: it returns the devices of users. See devices.yaml.

import type { Device, DeviceSource } from 'bellwire'

const linkedAt = '2026-01-01T00:00:00Z'
const pager = (brand: string, userId: string, token: string): Device => ({
  brand,
  userId,
  token,
  kind: 'http:pager',
  linkedAt,
})

// User 1001 of brand 1 has two pagers, one of which is lost; user 1001 of brand 2 is another person.
const devices = [pager('1', '1001', 'pager-7'), pager('1', '1001', 'pager-lost'), pager('2', '1001', 'pager-8')]

export const source: DeviceSource = {
  name: 'pagers',
  async findDevices(brand, userIds) {
    const found = devices.filter((device) => device.brand === brand && userIds.includes(device.userId))
    return Map.groupBy(found, (device) => device.userId)
  },
  async findHolders(brand, tokens) {
    const found = devices.filter((device) => device.brand === brand && tokens.includes(device.token))
    return new Map(found.map((device) => [device.token, device]))
  },
}
