// Pause, resume, try now, change, reset and cancel.

import { HttpError } from '../../../base/http/http-error.ts'
import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import { filterForm, hidden, html, input, number } from '../html.ts'
import type { Act, Visit } from '../page.ts'
import { actInput, actSelect, endField, endOf, pick, reasonField, reasonOf } from './act-fields.ts'
import { readLane, settingNames } from './lane.ts'

const laneLink = (visit: Visit, lane: string | undefined): string =>
  lane === undefined ? visit.link('/lanes') : visit.link('/lane', { name: lane })

const messages = (count: number): string => phraseCount(count, 'message')

const pause: Act = {
  path: '/lanes/pause',
  needs: 'POST /admin/lanes/pause',
  title: 'Pause',
  async ask(visit) {
    const { name, waiting } = await readLane(visit)
    return {
      effect: html`${messages(waiting)} ${waiting === 1 ? 'waits' : 'wait'} in lane ${name}. Running calls end, and no other call starts. With an activity or an action, only its messages wait.`,
      fields: html`!${actInput(visit, 'Only this activity (optional)', 'activity')}!${actInput(visit, 'Only this action (optional)', 'action')}!${reasonField(visit, this.needs)}!${endField(visit)}`,
      back: laneLink(visit, name),
    }
  },
  async act(visit, fields) {
    const { lane } = fields
    const body = {
      ...pick(fields, ['lane', 'activity', 'action']),
      ...endOf(fields),
      ...reasonOf(visit, this.needs, fields),
    }
    const { lanes } = await visit.call('POST /admin/lanes/pause', { body })
    const [paused] = lanes
    const held = paused?.pauses.find(({ activity, action }) => activity === fields.activity && action === fields.action)
    return { to: laneLink(visit, lane), count: held?.held_back ?? 0 }
  },
  done: (count) => `Paused. ${messages(count)} ${count === 1 ? 'is' : 'are'} held back now.`,
}

const resume: Act = {
  path: '/lanes/resume',
  needs: 'POST /admin/lanes/resume',
  title: 'Resume',
  async ask(visit) {
    const { lane, brand, activity, action } = visit.query
    const { lanes } = await visit.call('GET /admin/lanes')
    const held = lanes
      .filter(({ name }) => (lane === undefined ? name.startsWith(`${brand}/`) : name === lane))
      .flatMap(({ pauses }) => pauses)
      .filter((each) => each.activity === activity && each.action === action)
      .filter(({ scope }) => scope === (lane === undefined ? 'brand' : 'lane'))
    const part =
      activity !== undefined ? `activity ${activity} of ` : action !== undefined ? `action ${action} of ` : ''
    const count = held.reduce((sum, each) => sum + each.held_back, 0)
    return {
      effect: html`The pause of ${part}${lane === undefined ? `brand ${brand}` : `lane ${lane}`} ends, and ${messages(count)} can be sent. Other pauses of the same messages stay.`,
      fields: reasonField(visit, this.needs),
      none: held.length === 0 && 'This pause has ended.',
      back: laneLink(visit, lane),
    }
  },
  async act(visit, fields) {
    const body = { ...pick(fields, ['lane', 'brand', 'activity', 'action']), ...reasonOf(visit, this.needs, fields) }
    const { ended } = await visit.call('POST /admin/lanes/resume', { body })
    return { to: laneLink(visit, fields.lane), count: ended }
  },
  done: (count) => `${phraseCount(count, 'pause')} ended.`,
}

const tryNow: Act = {
  path: '/lanes/try',
  needs: 'POST /admin/lanes/resume',
  title: 'Try now',
  async ask(visit) {
    const { name, waiting, state } = await readLane(visit)
    const others = waiting - 1
    const then =
      others > 0 ? ` If that succeeds, the other ${messages(others)} ${others === 1 ? 'follows' : 'follow'}.` : ''
    return {
      effect: html`Lane ${name} is held, and sends its next message now.${then}`,
      fields: reasonField(visit, this.needs),
      none: state !== 'held' && `Lane ${name} is not held.`,
      back: laneLink(visit, name),
    }
  },
  async act(visit, fields) {
    const body = { lane: fields.lane ?? '', now: true, ...reasonOf(visit, this.needs, fields) }
    const { tried = [] } = await visit.call('POST /admin/lanes/resume', { body })
    return { to: laneLink(visit, fields.lane), count: tried.length }
  },
  done: (count) => (count === 0 ? 'The lane was no longer held.' : 'The lane tries its next message now.'),
}

const change: Act = {
  path: '/lanes/change',
  needs: 'POST /admin/lanes/settings',
  title: 'Change settings',
  async ask(visit) {
    const { name, settings, waiting } = await readLane(visit)
    const numbers = (['max', 'span_ms', 'concurrency', 'per_second'] as const).map((each) =>
      actInput(
        visit,
        settingNames[each],
        each,
        '',
        html`type="number" min="${each === 'span_ms' ? 0 : 1}" placeholder="${settings[each].value ?? 'no limit'}"`,
      ),
    )
    const modes = [
      ['', `unchanged (${settings.mode.value})`],
      ['single', 'single'],
      ['batch', 'batch'],
    ] as const
    return {
      effect: html`The settings apply to lane ${name} at once, in place of the configuration; ${messages(waiting)} ${waiting === 1 ? 'waits' : 'wait'}. An empty field is left unchanged.`,
      fields: html`!${actSelect(visit, settingNames.mode, 'mode', modes)}!${numbers}!${reasonField(visit, this.needs)}!${endField(visit)}`,
      back: laneLink(visit, name),
    }
  },
  async act(visit, fields) {
    const { mode, ...numbers } = pick(fields, ['mode', 'max', 'span_ms', 'concurrency', 'per_second'])
    const given = Object.entries(numbers).map(([name, value]) => [name, Number(value)])
    const settings = { ...Object.fromEntries(given), ...(mode !== undefined && { mode: mode as 'single' }) }
    if (Object.keys(settings).length === 0) throw new HttpError(400, 'every setting is empty: fill in at least one')
    const body = { lane: fields.lane ?? '', settings, ...endOf(fields), ...reasonOf(visit, this.needs, fields) }
    await visit.call('POST /admin/lanes/settings', { body })
    return { to: laneLink(visit, fields.lane), count: Object.keys(settings).length }
  },
  done: (count) => `${phraseCount(count, 'setting')} changed.`,
}

const reset: Act = {
  path: '/lanes/reset',
  needs: 'POST /admin/lanes/settings/reset',
  title: 'Reset settings',
  async ask(visit) {
    const { name, settings } = await readLane(visit)
    const changed = Object.values(settings).filter(({ override }) => override).length
    return {
      effect: html`${phraseCount(changed, 'setting')} of lane ${name} ${changed === 1 ? 'returns' : 'return'} to the configuration.`,
      fields: reasonField(visit, this.needs),
      none: changed === 0 && `Lane ${name} has the settings of the configuration.`,
      back: laneLink(visit, name),
    }
  },
  async act(visit, fields) {
    const body = { lane: fields.lane ?? '', ...reasonOf(visit, this.needs, fields) }
    const { ended } = await visit.call('POST /admin/lanes/settings/reset', { body })
    return { to: laneLink(visit, fields.lane), count: ended }
  },
  done: (count) => `${phraseCount(count, 'setting')} returned to the configuration.`,
}

const filters = ['activity', 'action', 'user', 'from', 'until'] as const
/** A preview counts 20,000 messages in each request. */
const mostRequests = 10

const cancel: Act = {
  path: '/lanes/cancel',
  needs: 'POST /admin/lanes/cancel',
  title: 'Cancel messages',
  async ask(visit) {
    const { name, waiting } = await readLane(visit)
    const given = pick(visit.query, filters)
    const isAll = visit.query.all === 'true'
    const hasFilter = Object.keys(given).length > 0
    const fields = [
      hidden({ lane: name }),
      input('Activity', 'activity', given.activity),
      input('Action', 'action', given.action),
      input('User', 'user', given.user),
      input('Enqueued from', 'from', given.from, html`placeholder="2026-01-31T10:00Z"`),
      input('Enqueued until', 'until', given.until, html`placeholder="2026-01-31T10:00Z"`),
    ]
    const all = [visit.link(this.path, { lane: name, all: 'true' }), `All ${number(waiting)} waiting`] as const
    const before = filterForm(visit.link(this.path), fields, 'Count', all)
    const back = laneLink(visit, name)
    if (!hasFilter && !isAll)
      return { before, effect: '', none: 'Choose the messages above: by a filter, or all that wait.', back }
    const { count, isLeast } = await countSelected(visit, {
      lane: name,
      ...given,
      ...(!hasFilter && { all: true as const }),
    })
    return {
      before,
      effect: html`${isLeast ? 'At least ' : ''}${messages(count)} of lane ${name} will be cancelled, and will be in Failed Actions with the reason cancelled. Some may be in running calls: these are cancelled only if they must be sent again.`,
      fields: reasonField(visit, this.needs),
      none: count === 0 && `No waiting message of lane ${name} matches.`,
      back,
    }
  },
  async act(visit, fields) {
    const given = pick(fields, filters)
    const all = Object.keys(given).length === 0 && fields.all === 'true' ? { all: true as const } : {}
    const selection = { lane: fields.lane ?? '', ...given, ...all }
    const { count } = await countSelected(visit, selection)
    await visit.call('POST /admin/lanes/cancel', { body: { ...selection, ...reasonOf(visit, this.needs, fields) } })
    return { to: laneLink(visit, fields.lane), count }
  },
  done: (count) =>
    `${messages(count)} ${count === 1 ? 'is' : 'are'} being cancelled. The lane's page shows the progress.`,
}

async function countSelected(visit: Visit, selection: object): Promise<{ count: number; isLeast: boolean }> {
  let count = 0
  let after: string | undefined
  for (let sent = 0; sent < mostRequests; sent++) {
    const body = { ...selection, ...(after !== undefined && { after }) }
    const answer = await visit.call('POST /admin/lanes/cancel/preview', { body })
    count += answer.count
    after = answer.next
    if (after === undefined) return { count, isLeast: false }
  }
  return { count, isLeast: true }
}

export const laneActs: readonly Act[] = [pause, resume, tryNow, change, reset, cancel]
