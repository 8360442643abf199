// Push services that accept a new credential each round, and refuse a former one from then on: FCM, APNs, Web Push and a provider over HTTP.

import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { listenAt } from '../../../src/base/runtime/local-server.ts'
import { makeVapidKeys } from '../../../src/subjects/providers/web-push/vapid.ts'
import { apnsStandIn } from '../../../src/tools/stand-ins/apns.ts'
import { fcmStandIn } from '../../../src/tools/stand-ins/fcm.ts'
import { startWebPushStandIn } from '../../../src/tools/stand-ins/web-push.ts'

/** @param rounds the number of credentials of each service, beside the first ones */
export async function startServices(rounds: number) {
  const [fcm, apns, webPush] = await Promise.all([
    fcmStandIn({ tls: false }),
    apnsStandIn({ tls: false }),
    startWebPushStandIn(),
  ])
  const http = await startProvider()
  // An RSA key takes long enough to delay requests, so all are made before the load begins.
  const credentials = Array.from({ length: rounds + 1 }, (_, round) => ({
    fcm: fcm.tokenEndpoint.account(fcm.credentials.project_id),
    apns: apns.key(),
    vapid: makeVapidKeys(),
    http: `the-secret-of-round-${round}`,
  }))
  const of = (round: number) => credentials[round] as (typeof credentials)[number]
  /** The VAPID keys that must not be used any more, each from its number of an arrival on. */
  const retired: { readonly publicKey: string; readonly from: number }[] = []

  return {
    devices: [
      ...Array.from({ length: 10 }, () => ({ token: fcm.device(), provider: 'firebase', channel: 'android' })),
      ...Array.from({ length: 10 }, () => ({
        token: apns.device(),
        provider: 'apns',
        channel: 'ios',
        app: apns.topic,
        environment: 'production',
      })),
      ...Array.from({ length: 10 }, () => ({ token: webPush.subscribe(), provider: 'webpush', channel: 'web' })),
      ...Array.from({ length: 10 }, (_, i) => ({ token: `token-${i}`, provider: 'http:own', channel: 'unknown' })),
    ],
    /** Writes the files of the credentials of this round, and accepts them. @returns the settings of the services */
    async write(folder: string, round: number) {
      const { fcm: account, apns: key, vapid, http: secret } = of(round)
      http.secrets.add(secret)
      await Promise.all([
        writeFile(join(folder, 'fcm.json'), JSON.stringify(account)),
        writeFile(join(folder, 'apns.p8'), key.key),
        writeFile(join(folder, 'http.secret'), secret),
      ])
      const limits = { concurrency: 100 + round, per_second: 10_000 + round }
      return [
        { provider: 'fcm', credentials: 'fcm.json', testing: { base_url: fcm.url }, ...limits },
        {
          provider: 'apns',
          key: 'apns.p8',
          key_id: key.keyId,
          team_id: key.teamId,
          topic: apns.topic,
          testing: { base_url: apns.url, sandbox_url: apns.sandboxUrl },
          ...limits,
        },
        {
          provider: 'web-push',
          public_key: vapid.publicKey,
          private_key: vapid.privateKey,
          subject: 'mailto:ops@example.com',
          testing: { origins: [{ from: webPush.url, to: webPush.url }] },
          ...limits,
        },
        {
          provider: 'http',
          name: 'own',
          url: http.url,
          secrets: [{ name: 'key', value: '${file:http.secret}' }],
          auth: { header: 'X-Secret', value: '{{secret.key}}' },
          body: { to: '{{token}}', id: '{{push_id}}' },
          id: '/id',
          ...limits,
        },
      ]
    },
    /** From now on, no credential of the round before may be used. */
    retireFormer(round: number): void {
      const former = of(round - 1)
      fcm.tokenEndpoint.remove(former.fcm)
      apns.revoke(former.apns)
      http.secrets.delete(former.http)
      retired.push({ publicKey: former.vapid.publicKey, from: webPush.arrivals.length })
    },
    /** The identifiers of the accepted messages, one for each arrival. */
    delivered: (): readonly string[] => [
      ...fcm.arrivals.map(({ body }) => String(JSON.parse(body).message.android.notification.tag)),
      ...apns.arrivals.map(({ headers }) => String(headers['apns-collapse-id'])),
      ...webPush.arrivals.map(({ headers }) => String(headers.topic)),
      ...http.ids,
    ],
    /** The refused requests, and those with a former credential. */
    wrong: (): readonly string[] => [
      ...Object.entries({ FCM: fcm, APNs: apns, 'Web Push': webPush }).flatMap(([name, { arrivals }]) =>
        arrivals.filter(({ accepted }) => !accepted).map(({ status }) => `${name}: ${status}`),
      ),
      ...http.refused,
      ...retired.flatMap(({ publicKey, from }) =>
        webPush.arrivals
          .slice(from)
          .filter(({ headers }) => headers.authorization?.includes(publicKey))
          .map(() => `Web Push: ${publicKey}`),
      ),
    ],
    close: () => Promise.all([fcm.close(), apns.close(), webPush.close(), http.close()]),
  }
}

/** A provider that accepts the messages with one of its secrets. */
async function startProvider() {
  const secrets = new Set<unknown>()
  const ids: string[] = []
  const refused: string[] = []
  const server = createServer(async (request, response) => {
    const { id } = (await json(request)) as { readonly id: string }
    const secret = request.headers['x-secret']
    if (secrets.has(secret)) ids.push(id)
    else refused.push(`HTTP: ${secret}`)
    response.writeHead(secrets.has(secret) ? 200 : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id }))
  })
  const url = `${await listenAt(server)}/send`
  return { url, secrets, ids, refused, close: async () => void server.close().closeAllConnections() }
}
