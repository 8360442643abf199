import type * as Kafka from '@platformatic/kafka'
import { loadPackage } from '../../runtime/optional-package.ts'

/** The client is loaded when it is first needed. @throws with the command that installs it */
export const loadKafka = (): typeof Kafka => loadPackage('@platformatic/kafka', 'A channel over Kafka')
