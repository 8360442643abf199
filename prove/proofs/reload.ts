// Reloads while requests arrive. The command runs as a process, once as a platform and once as an operator.

import type { Proof } from '../harness/proof.ts'
import { reloadOperator } from './reload/operator.ts'
import { reloadPlatform } from './reload/platform.ts'

const sizes = { small: { rounds: 3, perSecond: 50 }, full: { rounds: 20, perSecond: 500 } }

export const reload: Proof = {
  name: 'reload',
  claims:
    'under 500 requests a second, reloads replace keys, lanes, the certificate, the credential of a lane and the log level of a platform, and all credentials and limits of the push services of an operator: no request with a good key fails, each message is sent once, and after its replacement no old key passes and no old credential is used',
  boundSeconds: { small: 90, full: 300 },
  async run({ small, folder, print }, signal) {
    const size = small ? sizes.small : sizes.full
    const platform = await reloadPlatform({ ...size, folder }, signal)
    print(`platform: ${JSON.stringify(platform)}`)
    const operator = await reloadOperator({ ...size, folder }, signal)
    print(`operator: ${JSON.stringify(operator)}`)
    const { requests, reloads, messages, ...figures } = platform
    return {
      requests,
      reloads,
      messages,
      ...figures,
      ...Object.fromEntries(Object.entries(operator).map(([name, figure]) => [`operator_${name}`, figure])),
    }
  },
}
