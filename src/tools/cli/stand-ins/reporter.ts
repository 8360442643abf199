// The output of `bellwire stand-ins`, as text or as JSON.

import { relative } from 'node:path'
import { styleText } from 'node:util'
import type { MadeDevice, StandIns } from '../../stand-ins/all.ts'
import type { ShownNotification } from '../../stand-ins/stand-in.ts'
import { writtenKeys } from './folder.ts'

export interface Reporter {
  running(control: string, folder: string, files: readonly string[], standIns: StandIns): void
  shown(device: MadeDevice, shown: ShownNotification): void
}

/** Prints one JSON object per event and line. */
export const jsonReporter: Reporter = {
  running(control, folder, files, { fcm, apns, 'web-push': webPush }) {
    printJson({
      event: 'running',
      control,
      folder,
      files,
      fcm: fcm.url,
      apns: apns.url,
      apns_sandbox: apns.sandboxUrl,
      'web-push': webPush.url,
    })
  },
  shown({ id, service, name }, shown) {
    printJson({ event: 'shown', device: id, service, ...(name !== undefined && { name }), ...shown })
  },
}

export const textReporter: Reporter = {
  running(control, folder, files, { fcm, apns, 'web-push': webPush }) {
    const relativePath = relative(process.cwd(), folder) || '.'
    const path = relativePath.startsWith('..') ? folder : relativePath
    console.log(`Stand-ins of FCM, APNs and a Web Push service are running. They speak the real protocols. Nothing leaves this machine.

  control   ${control}  devices, faults, arrivals, shown notifications
  fcm       ${fcm.url}  project ${fcm.credentials.project_id}
  apns      ${apns.url}  topic ${apns.topic}, sandbox ${apns.sandboxUrl}
  web-push  ${webPush.url}

Written to ${path}: ${files.join(', ')}

In another terminal:
  bellwire operator --config ${path}/bellwire.yaml
Create a device, link it to a user, and send a message:
  LINK=$(curl -s ${control}/devices --json '{"service": "fcm"}' | sed 's/.*"link"://; s/}}$/}/')
  curl http://127.0.0.1:7101/admin/devices/link -H 'X-Api-Key: ${writtenKeys.service}' \\
    --json "{\\"brand\\": \\"1\\", \\"user_id\\": \\"1001\\", \\"tokens\\": [$LINK]}"
  curl http://127.0.0.1:7001/channels/push/single -H 'X-Api-Key: ${writtenKeys.platform}' \\
    -d '{"activity": {"id": 1, "brand_id": 1, "user_id": "1001", "activity_id": 1, "action_group_id": 1, "trigger_hash": "h", "action_id": 1}, "title": "Hello", "body": "There"}'

Notifications that devices show are printed here. Ctrl-C stops the stand-ins. See docs/push.md.
`)
  },
  shown({ id, service, name }, { title, body, replaced }) {
    const time = new Date().toISOString().slice(11, 19)
    const device = styleText('cyan', `${service} device ${id}${name === undefined ? '' : ` (${printable(name)})`}`)
    const version = replaced > 0 ? `, version ${replaced + 1} of the same notification` : ''
    console.log(`${time}  ${device} shows ${quoted(title)}: ${quoted(body)}${version}`)
  },
}

const printJson = (event: object): void => console.log(JSON.stringify(event))

const quoted = (text: string | undefined): string => JSON.stringify(printable(text ?? ''))

/** Replaces control characters, so that received text cannot control the terminal. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ')
