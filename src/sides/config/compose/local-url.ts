/** The URL at which this machine reaches a server that listens on host and port. */
export function localUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  const target = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${target.includes(':') ? `[${target}]` : target}:${port}`
}
