import type { Channel } from '../../contract/endpoints.ts'

/** The name of the lane of a brand's messages on a channel. @example laneName('1', 'push') // '1/push' */
export const laneName = (brand: string, channel: Channel): string => `${brand}/${channel}`

/** The brand of a lane. Also the lanes of links and statuses begin with their brand. */
export const brandOf = (lane: string): string => lane.split('/', 1)[0] as string

/** The channel of a lane of messages. */
export const channelOf = (lane: string): Channel => lane.slice(lane.indexOf('/') + 1) as Channel
