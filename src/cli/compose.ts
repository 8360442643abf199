// From the checked configuration to the options of createOperator and createPlatform: the only place that knows both.

import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { AttributeSource } from '../attributes/attribute-source.ts'
import { fileSource } from '../attributes/file.ts'
import { loadProvider, loadSource } from '../config/module.ts'
import { ConfigError } from '../config/problem.ts'
import type { OperatorConfig, PlatformConfig } from '../config/table.ts'
import type { OperatorOptions } from '../operator/options.ts'
import type { LaneOptions, PlatformOptions } from '../platform/options.ts'
import { operatorApi } from '../providers/operator-api.ts'
import type { Provider } from '../providers/provider.ts'
import { recording } from '../providers/recording.ts'

export async function operatorOptions(config: OperatorConfig): Promise<OperatorOptions> {
  const { store, keys, admin_keys: adminKeys, app, content, keep, limits } = config
  const push = config.push && (await pushProvider(config.push))
  const site = config.site && (await siteProvider(config.site))
  return {
    store,
    keys,
    adminKeys,
    ...(push && { push }),
    ...(site && { site }),
    suppression: await suppression(config.suppression),
    ...(app && { app }),
    content,
    keptMs: keep,
    limits: {
      bodyBytes: limits.body,
      batchMax: limits.batch,
      answerBudgetMs: limits.answer_budget,
      inProgress: limits.in_progress,
      providerConcurrency: limits.provider_concurrency,
      providerTimeoutMs: limits.provider_timeout,
    },
  }
}

export async function platformOptions(config: PlatformConfig): Promise<PlatformOptions> {
  const { store, keys, body, keep } = config
  const lanes = await Promise.all(config.lanes.map(laneOptions))
  return { store, keys, lanes, bodyBytes: body, keptMs: keep }
}

type LaneConfig = PlatformConfig['lanes'][number]

async function laneOptions(lane: LaneConfig, index: number): Promise<LaneOptions> {
  const { brand, channel, mode, max, bytes, span, concurrency, per_second: perSecond, timeout, retry } = lane
  return {
    brand,
    channel,
    provider: await laneProvider(lane, index),
    mode,
    max,
    bytes,
    spanMs: span,
    concurrency,
    ...(perSecond !== undefined && { perSecond }),
    timeoutMs: timeout,
    failedActions: lane.failed_actions,
    retry: {
      firstMs: retry.first,
      mostMs: retry.most,
      ...(retry.attempts !== undefined && { attempts: retry.attempts }),
    },
  }
}

async function laneProvider({ to, channel, mode, max, concurrency }: LaneConfig, index: number): Promise<Provider> {
  if (to.is === 'module') return loadProvider(to.module, to.name, `platform.lanes[${index}].to.module`)
  return operatorApi({ baseUrl: to.url, apiKey: to.api_key, channel, mode, max, connections: concurrency })
}

async function pushProvider(push: NonNullable<OperatorConfig['push']>): Promise<Provider> {
  if (push.is === 'module') return loadProvider(push.module, push.name, 'operator.push.module')
  if (push.file === undefined) return recording()
  await mkdir(dirname(push.file), { recursive: true })
  return recording({ file: push.file })
}

async function siteProvider(site: NonNullable<OperatorConfig['site']>): Promise<Provider | 'inbox'> {
  return site.is === 'inbox' ? 'inbox' : loadProvider(site.module, site.name, 'operator.site.module')
}

async function suppression(from: OperatorConfig['suppression']): Promise<AttributeSource | 'none'> {
  switch (from.is) {
    case 'none':
      return 'none'
    case 'file':
      return fileSource(from.file, from.brand === undefined ? {} : { brand: from.brand }).catch(refuseFile)
    case 'module':
      return loadSource(from.module, from.name, 'operator.suppression.module')
  }
}

function refuseFile({ message }: Error): never {
  throw new ConfigError([{ path: 'operator.suppression.file', where: '', what: message }])
}
