import { chromiumService, desktopChromiumService } from './chromium.ts'
import { caddyService, nghttpdService, nginxService, promtoolService } from './debian-programs.ts'
import { faketimeService } from './faketime.ts'
import { firefoxService } from './firefox.ts'
import { goService } from './go.ts'
import { kafkaService } from './kafka.ts'
import { kubernetesValidateService } from './kubernetes-validate.ts'
import { pgbouncerService } from './pgbouncer.ts'
import { postgresService } from './postgres.ts'
import { rabbitmqService } from './rabbitmq.ts'

/** The services that the test files of `npm test` share. Without it, a test file starts its services itself. */
export const sharedServices = [
  postgresService,
  rabbitmqService,
  kafkaService,
  chromiumService,
  desktopChromiumService,
  firefoxService,
  goService,
  nghttpdService,
  nginxService,
  pgbouncerService,
  promtoolService,
  caddyService,
  kubernetesValidateService,
  faketimeService,
]
