// The alert rules: each fires on its fault and is silent otherwise, and docs/on-call.md has a section for each.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { faults as faultsOfProof } from '../../prove/proofs/alert-rules/faults.ts'
import { metricsText } from '../../src/base/runtime/metrics.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { read } from '../docs/blocks.ts'
import { startFakeOperator } from '../providers/fake-operator.ts'
import { passTime } from '../support/set-clock.ts'
import { adminKey, elements, enqueueAt, post, startPlatform, witness } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'
import { deploy, firing, promtool, rules, rulesFile, testRules, withoutPromtool } from './promtool.ts'

const skip = await withoutPromtool()

test('promtool accepts the rules and the configuration that reads them', { skip }, async () => {
  await promtool('check', 'config', join(deploy, 'prometheus/prometheus.yml'))
  assert.match(await promtool('check', 'rules', rulesFile), new RegExp(`SUCCESS: ${rules.length} rules found`))
})

interface Fault {
  readonly alert: string
  /** Values of series, one a minute. `quiet`: the values of ordinary work. */
  readonly series: Readonly<Record<string, { readonly fault: string; readonly quiet: string }>>
  /** The labels of the alert, besides its severity. */
  readonly labels?: Readonly<Record<string, string>>
  readonly severity?: 'page' | 'ticket'
  readonly summary: string
}

const gauge = (fault: number, quiet: number) => ({ fault: `${fault}+0x60`, quiet: `${quiet}+0x60` })
const lane = { lane: '1/push' }
const at = { instance: 'a:7101' }

const faults: readonly Fault[] = [
  {
    alert: 'BellwireDown',
    series: { 'up{job="bellwire",instance="a:7101"}': gauge(0, 1) },
    labels: { job: 'bellwire', ...at },
    summary: 'a:7101 does not answer',
  },
  {
    alert: 'BellwireStoreDown',
    series: { 'bellwire_store_up{instance="a:7101"}': gauge(0, 1) },
    labels: at,
    summary: 'a:7101 can store nothing, and sends nothing',
  },
  {
    alert: 'BellwireDiskLow',
    series: { 'bellwire_disk_free_bytes{instance="a:7101",side="operator"}': gauge(2 ** 29, 2 ** 31) },
    labels: { ...at, side: 'operator' },
    summary: 'a:7101: 512MiB are free on the disk of the store',
  },
  {
    alert: 'BellwireLaneHeld',
    series: { 'bellwire_lane_held_seconds{lane="1/push"}': gauge(360, 60) },
    labels: lane,
    summary: 'lane 1/push is held for 6m 0s',
  },
  {
    alert: 'BellwireLanePaused',
    series: { 'bellwire_lane_paused{lane="1/push"}': gauge(1, 0) },
    labels: lane,
    severity: 'ticket',
    summary: 'lane 1/push is paused: its messages wait',
  },
  {
    alert: 'BellwireLaneUnserved',
    series: {
      'bellwire_lane_depth{lane="1/push",state="waiting",instance="a"}': gauge(7, 7),
      'bellwire_lane_owned{lane="1/push",instance="a"}': gauge(0, 0),
      'bellwire_lane_owned{lane="1/push",instance="b"}': gauge(0, 1),
    },
    labels: lane,
    summary: 'no process serves lane 1/push, in which 7 messages wait',
  },
  {
    alert: 'BellwireMessagesWait',
    series: { 'bellwire_lane_oldest_seconds{lane="1/push"}': gauge(1800, 60) },
    labels: lane,
    summary: 'the oldest message of lane 1/push waits for 30m 0s',
  },
  {
    alert: 'BellwireFailedActions',
    series: {
      'bellwire_items_total{lane="1/push",category="failed"}': { fault: '_x20 500+0x40', quiet: '_x20 50+0x40' },
    },
    labels: lane,
    summary: 'lane 1/push: 500 messages failed within an hour',
  },
  {
    alert: 'BellwireAttention',
    series: { 'bellwire_attention{provider="fcm"}': { fault: '1+0x60', quiet: '1+0x20' } },
    labels: { provider: 'fcm' },
    summary: 'fcm refuses its credential, its account or its address',
  },
  {
    alert: 'BellwireServicePaused',
    series: { 'bellwire_provider_paused{provider="fcm"}': { fault: '1+0x60', quiet: '1+0x52 0+0x8' } },
    labels: { provider: 'fcm' },
    summary: 'push service fcm is paused',
  },
  {
    alert: 'BellwireRemovalsStopped',
    series: { 'bellwire_removals_stopped{service="fcm"}': gauge(1, 0) },
    labels: { service: 'fcm' },
    severity: 'ticket',
    summary: 'fcm reports unusually many dead devices: none is removed',
  },
  {
    alert: 'BellwireNoText',
    series: { 'bellwire_content_unrecognised{brand="1",channel="push"}': { fault: '1+0x60', quiet: '1+0x20' } },
    labels: { brand: '1', channel: 'push' },
    summary: 'no message of brand 1 had a title or a text: nobody sees its messages',
  },
  {
    alert: 'BellwireAttributesAway',
    series: { 'bellwire_attributes_away{source="crm"}': { fault: '1+0x60', quiet: '_x57 1+0x3' } },
    labels: { source: 'crm' },
    summary: 'crm cannot say who may get messages: nothing is sent',
  },
  {
    alert: 'BellwireListShrunk',
    series: { 'bellwire_list_held{source="file a.csv"}': { fault: '1+0x60', quiet: '1+0x20' } },
    labels: { source: 'file a.csv' },
    severity: 'ticket',
    summary: 'file a.csv has an implausibly short list: the missing users keep their last values',
  },
  {
    alert: 'BellwireNotConsumed',
    series: { 'bellwire_consumer_up{consumer="amqp links"}': gauge(0, 1) },
    labels: { consumer: 'amqp links' },
    summary: 'amqp links is not consumed: its messages wait at the broker',
  },
  {
    alert: 'BellwireStatusesNotPolled',
    series: {
      'bellwire_status_polls_failed_total{lane="1/push"}': { fault: '1+1x60', quiet: '1+1x60' },
      'bellwire_status_polls_total{lane="1/push"}': { fault: '9+0x60', quiet: '9+1x60' },
    },
    labels: lane,
    severity: 'ticket',
    summary: 'the operator of lane 1/push gives no delivery statuses',
  },
  {
    alert: 'BellwireDiscrepancies',
    series: { 'bellwire_discrepancies{brand="1",field="excluded",severity="critical"}': gauge(3, 0) },
    labels: { brand: '1', field: 'excluded' },
    summary: 'the lists of brand 1 differ in excluded by 3 users that must get no messages',
  },
  {
    alert: 'BellwireRequestsFail',
    series: {
      'bellwire_request_seconds_count{side="operator",method="POST",route="/channels/push/single",status="2xx"}': {
        fault: '0+90x60',
        quiet: '0+100x60',
      },
      'bellwire_request_seconds_count{side="operator",method="POST",route="/channels/push/single",status="5xx"}': {
        fault: '0+10x60',
        quiet: '0+1x60',
      },
    },
    labels: { side: 'operator', method: 'POST', route: '/channels/push/single' },
    summary: 'the operator answers 10% of POST /channels/push/single with 5xx',
  },
  {
    alert: 'BellwireKeysRefused',
    series: { 'bellwire_keys_refused_total{instance="a:7101"}': { fault: '0+20x60', quiet: '0x40 200+0x20' } },
    labels: at,
    severity: 'ticket',
    summary: 'a:7101 refused 300 requests because of their key',
  },
  {
    alert: 'BellwireKeyExpires',
    series: {
      'bellwire_key_expires_timestamp_seconds{key="crm"}': {
        fault: `${3_600 + 3 * 86_400}+0x60`,
        quiet: `${15 * 86_400}+0x60`,
      },
    },
    labels: { key: 'crm' },
    severity: 'ticket',
    summary: 'the key crm, which is used, expires in 3d 0h 0m 0s',
  },
  {
    alert: 'BellwireReloadRefused',
    series: { 'bellwire_reloads_refused_total{instance="a:7101"}': { fault: '0x50 1+0x10', quiet: '0x30 1+0x30' } },
    labels: at,
    severity: 'ticket',
    summary: 'a:7101 refused its new configuration, and keeps the old one',
  },
  {
    alert: 'BellwireCanary',
    series: {
      'bellwire_canary_last_success_timestamp_seconds{brand="1",channel="push"}': {
        fault: '1800+0x60',
        quiet: '0+60x60',
      },
    },
    labels: { brand: '1', channel: 'push' },
    summary: 'no push canary of brand 1 was delivered for 30m 0s',
  },
]

test('each rule fires on its fault with its words, and is silent without it', { skip }, async (t) => {
  assert.deepEqual(
    faults.map(({ alert }) => alert),
    rules.map(({ alert }) => alert),
  )
  await testRules(
    t,
    (['fault', 'quiet'] as const).map((kind) => ({
      name: kind,
      interval: '1m',
      input_series: faults.flatMap(({ series }) =>
        Object.entries(series).map(([name, values]) => ({ series: name, values: values[kind] })),
      ),
      alert_rule_test: faults.map((fault) => ({
        alertname: fault.alert,
        eval_time: '60m',
        exp_alerts: kind === 'fault' ? [expectedAlert(fault)] : [],
      })),
    })),
  )
})

function expectedAlert({ alert, labels, severity = 'page', summary }: Fault): object {
  const { annotations } = rules.find((rule) => rule.alert === alert) ?? assert.fail(alert)
  return {
    exp_labels: { severity, ...labels },
    exp_annotations: { ...annotations, command: withLabels(annotations.command, labels), summary },
  }
}

const minute = 60_000

test('a lane that is held, paused, refused or failing raises its alerts, and ordinary work raises none', {
  skip,
}, async (t) => {
  const { url: refusing } = await startFakeOperator(t, (_received, response) => {
    response.statusCode = 401
    response.end()
  })
  const to = (url: string) => operatorApi({ url, apiKey: 'the-key-of-a-lane-1' })
  const providers = {
    1: witness(),
    2: to('http://127.0.0.1:1'),
    3: to(refusing),
    4: witness(() => ({ category: 'failed', reason: 'rejected', error: 'no', rule: 'rejected' })),
    5: witness(),
  }
  const { url } = await startPlatform(t, {
    lanes: Object.entries(providers).map(([brand, provider]) => ({ brand, channel: 'push', mode: 'batch', provider })),
  })
  const enqueue = (brand: number, count = 1) => enqueueAt(url, elements(count, { brand_id: brand }))

  const delivered = event('item.settled', ({ category }) => category === 'successful')
  await enqueue(1, 20)
  await delivered
  const ordinary = await metricsText()

  const [held, refused] = [2, 3].map((brand) => event('lane.held', ({ lane }) => lane === `${brand}/push`))
  const paused = event('lane.paused')
  await post(`${url}/admin/lanes/pause`, { lane: '5/push', reason: 'the offer is wrong' }, adminKey.key)
  for (const brand of [2, 3, 5]) await enqueue(brand)
  await enqueue(4, 101)
  await Promise.all([held, refused, paused])
  const failed = 'bellwire_items_total{lane="4/push",category="failed"} 101'
  await until(async () => (await metricsText()).includes(failed), { awaited: '101 Failed Actions' })
  passTime(t, 20 * minute)
  const faulty = await metricsText()

  const raised = ['BellwireLaneHeld', 'BellwireLanePaused', 'BellwireMessagesWait', 'BellwireFailedActions']
  await testRules(t, [
    firing('ordinary work', ordinary, []),
    firing('faults', faulty, [...raised, 'BellwireAttention']),
  ])
  for (const name of ['lane_held_seconds', 'lane_next_try_seconds', 'lane_oldest_seconds'])
    assert.match(faulty, new RegExp(`^bellwire_${name}\\{lane="2/push"\\} \\S+$`, 'm'))
})

test('the proof alert-rules has a real fault for each rule', () => {
  assert.deepEqual(
    Object.keys(faultsOfProof),
    rules.map(({ alert }) => alert),
  )
})

/** The text of an annotation with the values of the labels. */
const withLabels = (text: string, labels: Readonly<Record<string, string>> = {}): string =>
  text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? '')

const labelsOfPage = { brand: '1', field: 'blocked' }

test('docs/on-call.md has one section for each rule, with its command', () => {
  const sections = read('docs/on-call.md')
    .split(/^## /m)
    .slice(1)
    .map((text) => ({
      anchor: `docs/on-call.md#${(text.split('\n', 1)[0] ?? '')
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-')}`,
      alerts: [...text.matchAll(/`(Bellwire\w+)`/g)].map(([, alert]) => alert),
      command: /^Type: `(bellwire [^`]+)`/m.exec(text)?.[1],
    }))
  assert.deepEqual(
    sections
      .flatMap(({ anchor, alerts, command }) => alerts.map((alert) => ({ alert, anchor, command })))
      .toSorted((a, b) => (a.alert ?? '').localeCompare(b.alert ?? '')),
    rules
      .map(({ alert, annotations: { runbook, command } }) => ({
        alert,
        anchor: runbook,
        command: withLabels(command, labelsOfPage),
      }))
      .toSorted((a, b) => a.alert.localeCompare(b.alert)),
  )
  assert.deepEqual(
    sections.filter(({ command }) => command === undefined).map(({ anchor }) => anchor),
    [],
    'each section has one command',
  )
})
