/** The address at which a program on this machine reaches a listener. */
export function localUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  const near = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${near.includes(':') ? `[${near}]` : near}:${port}`
}
