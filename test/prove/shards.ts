/**
 * The proofs that run in one file, one after another. Each shard takes about as long as the others in small size. The last shard also
 * runs every proof that is not listed.
 */
export const shards: readonly (readonly string[])[] = [
  ['kills-devices-postgres', 'kills-fleet', 'strangers'],
  ['device-links-kafka', 'outage-postgres'],
  ['kills', 'kills-devices', 'intake-amqp'],
  ['device-links-amqp', 'outage', 'snapshot'],
  ['kills-postgres', 'kills-devices-fleet', 'storm'],
  ['simulate', 'intake-kafka', 'device-links-rest', 'wrong-credential', 'division'],
  [],
]
