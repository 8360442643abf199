/**
 * The proofs that run in one file, one after another. Each shard takes about as long as the others in small size. The last shard also
 * runs every proof that is not listed.
 */
export const shards: readonly (readonly string[])[] = [
  ['kills-fleet', 'strangers'],
  ['device-links-kafka', 'intake-kafka'],
  ['device-links-amqp', 'outage-postgres', 'erase-postgres'],
  ['kills-devices-fleet', 'outage', 'kills-postgres', 'erase'],
  ['kills-devices-postgres', 'neighbours', 'kills', 'kills-devices', 'restore'],
  ['storm', 'division', 'device-links-rest', 'wrong-credential', 'simulate'],
  [
    'disk-full-postgres',
    'intake-amqp',
    'hand-over',
    'snapshot',
    'disk-full',
    'exactly-once',
    'exactly-once-postgres',
    'reconcile-postgres',
  ],
  [],
]
