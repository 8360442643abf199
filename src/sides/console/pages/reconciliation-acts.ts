// Compare lists, correct the CRM, and acknowledge a run.

import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { RequestOf } from '../../admin/calls.ts'
import { html, number } from '../html.ts'
import type { Act, Fields, Visit } from '../page.ts'
import { actInput, actSelect, reasonField, reasonOf } from './act-fields.ts'
import { fields as knownFields, readRun } from './reconciliation.ts'

type Field = RequestOf<'platform', 'POST /admin/reconciliations'>['body']['field']

const runLink = (visit: Visit, { run = '' }: Fields): string => visit.link('/reconciliation/run', { run })

const start: Act = {
  path: '/reconciliation/start',
  needs: 'POST /admin/reconciliations',
  title: 'Compare lists',
  async ask(visit) {
    const { brand, field } = visit.query
    return {
      effect: html`The operator sends the users of ${field === undefined ? 'one field' : field}, and the list is compared with the CRM. Nothing is changed.`,
      fields: html`!${brand === undefined ? actInput(visit, 'Brand', 'brand', visit.key.brands?.[0] ?? '', html`inputmode="numeric" required`) : ''}!${field === undefined ? actSelect(visit, 'Field', 'field', knownFields) : ''}<label class="box"><input type="checkbox" name="any_size" value="yes" !${visit.refused?.any_size === 'yes' ? 'checked' : ''}> Accept a list that is implausibly small or large</label>!${reasonField(visit, this.needs)}`,
      back: visit.link('/reconciliation', { brand, field }),
    }
  },
  async act(visit, fields) {
    const { brand = '', field, any_size: anySize } = fields
    const body = {
      brand,
      field: field as Field,
      ...(anySize === 'yes' && { any_size: true }),
      ...reasonOf(visit, this.needs, fields),
    }
    const { run } = await visit.call('POST /admin/reconciliations', { body })
    return { to: visit.link('/reconciliation/run', { run }), count: 1 }
  },
  done: () => 'The lists are compared now.',
}

const correct: Act = {
  path: '/reconciliation/correct',
  needs: 'POST /admin/reconciliations/:run/correct',
  title: 'Correct the CRM',
  async ask(visit) {
    const { run = '' } = visit.query
    const what = kindOf(visit.query)
    const preview = await visit.call('POST /admin/reconciliations/:run/correct', {
      params: { run },
      body: { what, preview: true },
    })
    if (!('count' in preview)) throw new Error('the route of corrections gave no preview')
    const { count, sets, sample } = preview
    const more = count - sample.length
    return {
      effect: html`The CRM sets <code>${sets}</code> for ${phraseCount(count, 'user')}. ${what === 'tighten' ? 'This takes rights away: fewer messages are sent.' : 'This gives rights back: more messages are sent.'} A user whose value changed since the run is left as it is.!${
        visit.can('GET /admin/reconciliations/:run/discrepancies') && count > 0
          ? html`<br><span class="muted">!${sample.map((user) => html`<bdi>${user}</bdi>`).join(', ')}${more > 0 ? ` and ${phraseCount(more, 'further user')}` : ''}</span>`
          : ''
      }`,
      fields: html`<input type="hidden" name="confirm" value="${count}">!${reasonField(visit, this.needs)}`,
      none: count === 0 && 'No user is left whose value this corrects.',
      back: runLink(visit, visit.query),
    }
  },
  async act(visit, fields) {
    const body = {
      what: kindOf(fields),
      confirm: Number(fields.confirm),
      ...reasonOf(visit, this.needs, fields),
    }
    const answer = await visit.call('POST /admin/reconciliations/:run/correct', {
      params: { run: fields.run ?? '' },
      body,
    })
    return { to: runLink(visit, fields), count: 'applied' in answer ? answer.applied : 0 }
  },
  done: (count) => `The CRM was corrected for ${phraseCount(count, 'user')}.`,
}

const kindOf = ({ what }: Fields): 'tighten' | 'loosen' => (what === 'loosen' ? 'loosen' : 'tighten')

const acknowledge: Act = {
  path: '/reconciliation/acknowledge',
  needs: 'POST /admin/reconciliations/:run/acknowledge',
  title: 'Acknowledge',
  async ask(visit) {
    const { field, brand, discrepancies: found } = await readRun(visit)
    const count = found ? found.operator_only + found.crm_only : 0
    return {
      effect: html`You know of ${count === 1 ? '1 discrepancy' : `${number(count)} discrepancies`} of ${field} of brand ${brand}. Your name is stored with the run; nothing else is changed.`,
      fields: reasonField(visit, this.needs),
      back: runLink(visit, visit.query),
    }
  },
  async act(visit, fields) {
    const body = reasonOf(visit, this.needs, fields)
    await visit.call('POST /admin/reconciliations/:run/acknowledge', { params: { run: fields.run ?? '' }, body })
    return { to: runLink(visit, fields), count: 1 }
  },
  done: () => 'The run is acknowledged.',
}

export const reconciliationActs: readonly Act[] = [start, correct, acknowledge]
