// Creates HTTP providers and push services from their validated settings.

import type { ContentMapping } from '../../../../contract/content.ts'
import { httpProvider, httpService } from '../../../../subjects/providers/http/http.ts'
import type { Provider } from '../../../../subjects/providers/provider.ts'
import type { PushService } from '../../../../subjects/providers/push-service.ts'
import type { HttpSettings, HttpUserSettings } from '../../../../subjects/settings/services/http.ts'
import { httpOptions } from '../../http-options.ts'
import { connectionOptions } from './address.ts'

/** @param at the path of the settings: 'operator.push' */
export async function composeHttpProvider(
  settings: HttpUserSettings,
  content: ContentMapping,
  at: string,
): Promise<Provider> {
  const connection = await connectionOptions(settings, at)
  const { userId, lifetimeMs } = settings
  return httpProvider({ ...httpOptions(settings), ...connection, content, userId, lifetimeMs })
}

/** @param at the path of the settings: 'operator.push.services[0]' */
export async function composeHttpService(settings: HttpSettings, at: string): Promise<PushService> {
  const connection = await connectionOptions(settings, at)
  return httpService({ ...httpOptions(settings), ...connection })
}
