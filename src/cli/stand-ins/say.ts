// What `bellwire stand-ins` says, for people or for programs.

import { relative } from 'node:path'
import { styleText } from 'node:util'
import type { MadeDevice, StandIns } from '../../stand-ins/all.ts'
import type { ShownNotification } from '../../stand-ins/stand-in.ts'
import { writtenKeys } from './folder.ts'

export interface Voice {
  running(control: string, folder: string, files: readonly string[], standIns: StandIns): void
  shown(device: MadeDevice, shown: ShownNotification): void
}

/** One JSON object in a line for each thing that happens. */
export const forPrograms: Voice = {
  running(control, folder, files, { fcm, apns, 'web-push': webPush }) {
    say({
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
    say({ event: 'shown', device: id, service, ...(name !== undefined && { name }), ...shown })
  },
}

export const forPeople: Voice = {
  running(control, folder, files, { fcm, apns, 'web-push': webPush }) {
    const near = relative(process.cwd(), folder) || '.'
    const here = near.startsWith('..') ? folder : near
    console.log(`Stand-ins of FCM, APNs and a Web Push service run. They speak the real protocols, and nothing leaves this machine.

  control   ${control}  devices, faults, arrivals, what is shown
  fcm       ${fcm.url}  project ${fcm.credentials.project_id}
  apns      ${apns.url}  topic ${apns.topic}, sandbox ${apns.sandboxUrl}
  web-push  ${webPush.url}

Written to ${here}: ${files.join(', ')}

In another terminal:
  bellwire operator --config ${here}/bellwire.yaml
Make a device, link it to a user, and send:
  LINK=$(curl -s ${control}/devices --json '{"service": "fcm"}' | sed 's/.*"link"://; s/}}$/}/')
  curl http://127.0.0.1:7101/admin/devices/link -H 'X-Api-Key: ${writtenKeys.service}' \\
    --json "{\\"brand\\": \\"1\\", \\"user_id\\": \\"1001\\", \\"tokens\\": [$LINK]}"
  curl http://127.0.0.1:7001/channels/push/single -H 'X-Api-Key: ${writtenKeys.platform}' \\
    -d '{"activity": {"id": 1, "brand_id": 1, "user_id": "1001", "activity_id": 1, "action_group_id": 1, "trigger_hash": "h", "action_id": 1}, "title": "Hello", "body": "There"}'

What devices show appears here. Ctrl-C ends the stand-ins; docs/push.md has more.
`)
  },
  shown({ id, service, name }, { title, body, replaced }) {
    const time = new Date().toISOString().slice(11, 19)
    const device = styleText('cyan', `${service} device ${id}${name === undefined ? '' : ` (${printable(name)})`}`)
    const again = replaced > 0 ? `, for the ${replaced + 1}. time in the same place` : ''
    console.log(`${time}  ${device} shows ${quoted(title)}: ${quoted(body)}${again}`)
  },
}

const say = (what: object): void => console.log(JSON.stringify(what))

const quoted = (text: string | undefined): string => JSON.stringify(printable(text ?? ''))

/** What came over the wire must not command the terminal. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ')
