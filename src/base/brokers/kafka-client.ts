import type * as Kafka from '@platformatic/kafka'
import { loadPackage } from '../runtime/optional-package.ts'

/** Loads the client when it is first needed. @throws an error with the command that installs it */
export const loadKafka = (): typeof Kafka => loadPackage('@platformatic/kafka', 'A channel over Kafka')
