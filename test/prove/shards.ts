/**
 * The proofs that run in one file, one after another. Each shard takes about as long as the others in small size. The proofs of a
 * broker are in one shard, which starts it once. The last shard also runs every proof that is not listed.
 */
export const shards: readonly (readonly string[])[] = [
  ['kills-fleet', 'strangers'],
  ['device-links-kafka', 'intake-kafka'],
  ['device-links-amqp', 'intake-amqp', 'outage-postgres'],
  ['kills-devices-fleet', 'outage', 'erase', 'status-away', 'upgrade'],
  ['neighbours', 'kills', 'kills-devices', 'restore', 'move'],
  ['storm', 'division', 'device-links-rest', 'wrong-credential', 'simulate'],
  [
    'erase-postgres',
    'disk-full-postgres',
    'hand-over',
    'snapshot',
    'disk-full',
    'exactly-once-postgres',
    'reconcile-postgres',
  ],
  [],
]
