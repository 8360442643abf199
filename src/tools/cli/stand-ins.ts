import { resolve } from 'node:path'
import { Command } from 'commander'
import { CliError, exit } from './exit.ts'
import { waitForSignal } from './interruptible.ts'
import { wholeNumber } from './numbers.ts'

/** The default port of the control API. The stand-ins use the next five ports. */
const defaultPort = 4700

/** `bellwire stand-ins`: push without an account, for experiments and for tests in any language. */
export function command(): Command {
  return new Command()
    .option('--dir <folder>', 'the folder for credentials and a bellwire.yaml that uses them', './stand-ins')
    .option(
      '--port <number>',
      'the port of the control API; the stand-ins use the next five; 0 chooses free ports',
      wholeNumber(0, 65_530),
      defaultPort,
    )
    .option('--json', 'print one JSON object per event')
    .addHelpText('after', help)
    .action(async ({ dir, port, json }: { dir: string; port: number; json?: true }) => {
      const [
        { startStandIns },
        { startControl },
        { claimFolder, writeFolder },
        { jsonReporter, textReporter },
        { makeVapidKeys },
      ] = await Promise.all([
        import('../stand-ins/all.ts'),
        import('../stand-ins/control.ts'),
        import('./stand-ins/folder.ts'),
        import('./stand-ins/reporter.ts'),
        import('../../subjects/providers/web-push/vapid.ts'),
      ])
      const folder = resolve(dir)
      await claimFolder(folder)
      const vapid = makeVapidKeys()
      const standIns = await startStandIns({ ports: portsFrom(port), vapidPublicKey: vapid.publicKey }).catch(explain)
      const control = await startControl(standIns, { port }).catch(async (error: Error) => {
        await standIns.close()
        return explain(error)
      })
      const reporter = json ? jsonReporter : textReporter
      const stopped = waitForSignal()
      try {
        const files = await writeFolder(folder, standIns, vapid)
        for (const service of ['fcm', 'apns', 'web-push'] as const) {
          standIns[service].onShown((token, shown) => {
            const device = standIns.devices.find((each) => each.token === token)
            if (device) reporter.shown(device, shown)
          })
        }
        reporter.running(control.url, folder, files, standIns)
        await stopped
      } finally {
        await control.close()
        await standIns.close()
      }
    })
}

function portsFrom(port: number): object {
  if (port === 0) return {}
  return { fcm: port + 1, fcmTokens: port + 2, apns: port + 3, apnsSandbox: port + 4, webPush: port + 5 }
}

function explain(error: Error & { code?: string; port?: number }): never {
  if (error.code !== 'EADDRINUSE') throw error
  throw new CliError(exit.usage, `port ${error.port} is in use: choose others with --port; --port 0 finds free ones`)
}

const help = `
Runs stand-ins of FCM, APNs and a Web Push service that speak the real wire protocols: they verify authentication, enforce limits,
decrypt Web Push, and store messages for devices that are offline. Their control API creates devices, injects faults, and lists received
messages and displayed notifications:

  POST /devices      {"service": "fcm" | "apns" | "web-push", "name"?, "app"?, "environment"?, "kind"?, "online"?}
  POST /devices/ID   {"online": false} | {"online": true} | {"gone": true}
  POST /faults       {"service": …, "device"?, "every"?, "share"?, "times"?, "delayMs"?, "reset"?: "before" | "after", "goaway"?: true,
                      "answer"?: {"status": 503, "headers": {"retry-after": "7"}, "body": "…"}}
  DELETE /faults     removes all faults; GET /faults lists them
  GET /arrivals      ?service=apns&after=10
  GET /shown         ?device=1&count=2&wait=10 waits up to 10 s until the device shows two notifications

Examples:
  bellwire stand-ins
  bellwire stand-ins --dir /tmp/stand-ins --port 0 --json
`
