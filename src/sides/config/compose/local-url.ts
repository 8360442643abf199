/** The URL at which this machine reaches a server that listens on host and port. */
export function localUrl({
  host,
  port,
  tls,
}: {
  readonly host: string
  readonly port: number
  readonly tls?: object | undefined
}): string {
  const target = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `${tls ? 'https' : 'http'}://${target.includes(':') ? `[${target}]` : target}:${port}`
}
