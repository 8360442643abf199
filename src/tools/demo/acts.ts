// What a person can do to the demo: each button causes the fault or gives the order for real, and sends messages that show it.

import { brands } from './cast.ts'
import type { Clients } from './clients.ts'
import type { Journal } from './journal.ts'
import type { Phones } from './phones.ts'
import type { Channel, Records, Sample } from './records.ts'
import { excludedAtFirst, type Servers } from './servers.ts'

/** Where on the way a button is. */
export type Place = 'platform' | 'wire' | 'operator' | 'services'

export interface Act {
  readonly id: string
  readonly place: Place
  /** What the button says. It changes while the act lasts. */
  readonly label: string
  /** The effect of the act, in plain words. Absent: the act does not last. */
  readonly says: string | undefined
  press: () => Promise<void>
}

export interface Stage {
  readonly servers: Servers
  readonly clients: Clients
  readonly journal: Journal
  readonly records: Records
  readonly phones: Phones
}

const [larkspur, northgate] = brands as [(typeof brands)[number], (typeof brands)[number]]
const [mara, theo] = larkspur.users as [(typeof larkspur.users)[number], (typeof larkspur.users)[number]]
const [jonas] = northgate.users as [(typeof northgate.users)[number]]
const campaignSize = 60

export function createActs({ servers, clients, journal, records, phones }: Stage): readonly Act[] {
  const { operator, platform, wire, standIns } = servers
  const isUp = ({ process }: typeof operator): boolean => ['running', 'starting'].includes(process.state)
  let endFault: (() => void) | undefined
  let isMaraExcluded = false
  let diskProblem: string | undefined
  /** The act that was pressed last: what it has caused is shown until the next one. */
  let latest: string | undefined

  const to = (channel: Channel, person = theo): Sample => records.next(channel, larkspur, person)
  /** While the platform does not run, nothing is sent. */
  const send = (...samples: Sample[]): Promise<unknown> => journal.send(samples).catch(() => {})
  // A start takes seconds; the page shows when the side runs.
  const start = ({ process }: typeof operator): void => void process.start().catch(() => {})

  const rangAgain = (): boolean =>
    phones.list.some((phone) =>
      phones.shown(phone).some(({ tag = '', replaced }) => wire.lost.has(tag) && replaced > 0),
    )

  const acts: readonly Act[] = [
    {
      id: 'platform',
      place: 'platform',
      get label() {
        return isUp(platform) ? 'Kill the platform' : 'Start the platform'
      },
      get says() {
        if (platform.process.state === 'running') return undefined
        return platform.process.state === 'starting'
          ? 'The platform starts again. It goes on with the messages in its store.'
          : 'The platform was killed in the middle of its work. Its messages are safe in its store, and it goes on with them after a start. Until then it accepts no messages.'
      },
      async press() {
        if (!isUp(platform)) return start(platform)
        await send(to('push'), to('site'), to('push', mara), to('site', mara))
        void platform.process.stop('SIGKILL')
      },
    },
    {
      id: 'campaign',
      place: 'platform',
      get label() {
        return journal.campaign().waiting > 0 ? 'Cancel the campaign' : 'Start a campaign'
      },
      get says() {
        const { waiting, arrived, kept, cancelled } = journal.campaign()
        if (waiting > 0)
          return `A campaign of ${campaignSize} pushes to ${northgate.name} runs, at the rate that the operator allows: ${arrived + kept} are sent, ${waiting} wait.`
        if (cancelled > 0 && latest === 'campaign')
          return `The campaign was cancelled: ${arrived + kept} pushes had been sent, ${cancelled} never were. The platform lists them in Failed Actions.`
        return undefined
      },
      async press() {
        if (journal.campaign().waiting > 0) {
          await clients.cancelCampaign()
          return journal.recheck()
        }
        const users = Array.from({ length: campaignSize }, (_, i) => northgate.users[i % northgate.users.length])
        journal.forgetCampaign()
        await send(...users.map((person = theo) => records.campaign(northgate, person)))
      },
    },
    {
      id: 'answer',
      place: 'wire',
      label: 'Lose an answer',
      get says() {
        if (wire.isLosing) return 'The next answer of the operator will be lost on its way to the platform.'
        if (wire.lost.size === 0 || latest !== 'answer') return undefined
        const again = journal.entries.filter(({ ref = '' }) => wire.lost.has(ref)).length
        return again >= wire.lost.size
          ? `The answer was lost after the operator had delivered. The platform asked again and got the same identifier: the phone rang ${rangAgain() ? 'twice' : 'once'}.`
          : 'The operator has delivered, but its answer was lost. The platform does not know it and will ask again.'
      },
      async press() {
        wire.loseAnswer()
        await send(to('push', mara))
      },
    },
    {
      id: 'operator',
      place: 'operator',
      get label() {
        return isUp(operator) ? 'Stop the operator' : 'Start the operator'
      },
      get says() {
        if (operator.process.state === 'running') return undefined
        return operator.process.state === 'starting'
          ? 'The operator starts again. The platform sends what it has kept.'
          : 'The operator is stopped. The platform keeps every message, holds the lanes and tries again every few seconds.'
      },
      async press() {
        if (!isUp(operator)) return start(operator)
        void operator.process.stop('SIGTERM')
        await send(to('push'), to('site', mara))
      },
    },
    {
      id: 'disk',
      place: 'operator',
      get label() {
        return operator.process.isDiskFull ? 'Free the disk' : 'Fill the disk'
      },
      get says() {
        if (diskProblem) return diskProblem
        return operator.process.isDiskFull
          ? 'The operator cannot write to its disk, so it accepts no message: it sends nothing that it cannot record. The platform keeps the messages. (The system refuses each write of the process, by prlimit: filling a disk would need root.)'
          : undefined
      },
      async press() {
        diskProblem = operator.process.setDiskFull(!operator.process.isDiskFull)
        await send(to('push'), to('site', mara))
      },
    },
    {
      id: 'mara',
      place: 'operator',
      get label() {
        return isMaraExcluded ? 'Include Mara again' : 'Exclude Mara'
      },
      get says() {
        return isMaraExcluded
          ? 'Mara is excluded in the operator’s list of users: no message reaches her phone or her inbox, whoever sends it.'
          : undefined
      },
      async press() {
        isMaraExcluded = !isMaraExcluded
        const excluded = isMaraExcluded ? [`${larkspur.id}/${mara.id}`] : []
        await servers.writeUsers(new Set([...excludedAtFirst, ...excluded]))
        await send(to('push', mara), to('site', mara))
      },
    },
    {
      id: 'fcm',
      place: 'services',
      get label() {
        return endFault ? 'FCM answers again' : 'FCM answers 503'
      },
      get says() {
        return endFault
          ? 'FCM answers 503. The operator pauses FCM and tries it again after longer and longer waits. The platform keeps each message that reaches no other device of its user. Messages to iPhones, laptops and inboxes arrive as before.'
          : undefined
      },
      async press() {
        if (endFault) {
          endFault()
          endFault = undefined
          return
        }
        endFault = standIns.fcm.play({ answer: { status: 503 } })
        await send(records.next('push', northgate, jonas), to('push', mara))
      },
    },
  ]
  for (const act of acts) {
    const press = act.press.bind(act)
    act.press = () => {
      latest = act.id
      return press()
    }
  }
  return acts
}
