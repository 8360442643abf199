import { resolve } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { CliError, exit } from './exit.ts'
import { signalled } from './interruptible.ts'

/** Of the control API. The stand-ins take the ports that follow. */
const usualPort = 4700

/** `bellwire stand-ins`: push without any account, for experiments and for tests in any language. */
export function standInsCommand(): Command {
  return new Command()
    .option('--dir <folder>', 'where credentials and a bellwire.yaml that uses them are written', './stand-ins')
    .option(
      '--port <number>',
      'port of the control API, the stand-ins take the five that follow; 0 takes free ones',
      port,
      usualPort,
    )
    .option('--json', 'print one JSON object for each thing that happens')
    .addHelpText('after', help)
    .action(async ({ dir, port, json }: { dir: string; port: number; json?: true }) => {
      const [
        { startStandIns },
        { startControl },
        { claimFolder, writeFolder },
        { forPeople, forPrograms },
        { makeVapidKeys },
      ] = await Promise.all([
        import('../stand-ins/all.ts'),
        import('../stand-ins/control.ts'),
        import('./stand-ins/folder.ts'),
        import('./stand-ins/say.ts'),
        import('../providers/web-push/vapid.ts'),
      ])
      const folder = resolve(dir)
      await claimFolder(folder)
      const vapid = makeVapidKeys()
      const standIns = await startStandIns({ ports: portsFrom(port), vapidPublicKey: vapid.publicKey }).catch(explain)
      const control = await startControl(standIns, { port }).catch(async (error: Error) => {
        await standIns.close()
        return explain(error)
      })
      const voice = json ? forPrograms : forPeople
      const stopped = signalled()
      try {
        const files = await writeFolder(folder, standIns, vapid)
        for (const service of ['fcm', 'apns', 'web-push'] as const) {
          standIns[service].onShown((token, shown) => {
            const device = standIns.devices.find((one) => one.token === token)
            if (device) voice.shown(device, shown)
          })
        }
        voice.running(control.url, folder, files, standIns)
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

function port(text: string): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number <= 65_530) return number
  throw new InvalidArgumentError('It must be a number from 0 to 65530.')
}

function explain(error: Error & { code?: string; port?: number }): never {
  if (error.code !== 'EADDRINUSE') throw error
  throw new CliError(exit.usage, `port ${error.port} is in use: choose others with --port, or --port 0 for free ones`)
}

const help = `
Runs doubles of FCM, APNs and a Web Push service that speak the real wire protocols: authentication is verified, limits are
enforced, Web Push is decrypted, devices that are away get what was kept for them. Their control API makes devices, plays faults and shows what
arrived and what a device shows:

  POST /devices      {"service": "fcm" | "apns" | "web-push", "name"?, "app"?, "environment"?, "kind"?, "online"?}
  POST /devices/ID   {"online": false} | {"online": true} | {"gone": true}
  POST /faults       {"service": …, "device"?, "every"?, "share"?, "times"?, "delayMs"?, "reset"?: "before" | "after", "goaway"?: true,
                      "answer"?: {"status": 503, "headers": {"retry-after": "7"}, "body": "…"}}
  DELETE /faults     takes them back; GET /faults lists them
  GET /arrivals      ?service=apns&after=10
  GET /shown         ?device=1&count=2&wait=10 waits up to 10 s until it shows two

Examples:
  bellwire stand-ins
  bellwire stand-ins --dir /tmp/stand-ins --port 0 --json
`
