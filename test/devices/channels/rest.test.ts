import { deviceLink } from '../../../src/contract/endpoints.ts'
import { restPublisher } from '../../../src/subjects/devices/publishers/rest-publisher.ts'
import { deviceChannelSuite, integrationKey } from '../../suites/device-channel.ts'

deviceChannelSuite({
  name: 'rest',
  skip: false,
  open: async () => ({
    channels: [],
    publisher: (url, brand) => restPublisher({ url, apiKey: integrationKey(brand) }),
    async sendForeign(url, brand, { body, headers }) {
      const answer = await fetch(url + deviceLink.path, {
        method: 'POST',
        headers: { 'x-api-key': integrationKey(brand), 'content-type': 'application/json', ...headers },
        body: new Uint8Array(body),
      })
      await answer.text()
      return answer.status === 200 ? 'accepted' : 'refused'
    },
  }),
})
