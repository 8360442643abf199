// HTTP/2 servers that send each request back, started with small and large windows and tables.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { createSecureServer, type ServerHttp2Session } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listenAt } from '../../src/base/runtime/local-server.ts'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { freePort } from '../../test/support/free-port.ts'
import { environmentOf, nghttpdService, nginxService } from '../../test/support/services/debian-programs.ts'
import { goProgram } from '../../test/support/services/go.ts'
import { startServer, tryThreeTimes } from '../../test/support/services/program.ts'
import { addressOf } from '../../test/support/services/service.ts'

export interface Round {
  /** The size of the HPACK tables. */
  readonly table: number
  /** The window of a stream is 2^bits - 1. */
  readonly windowBits: number
  readonly streams: number
}

export const rounds: readonly Round[] = [
  { table: 4_096, windowBits: 16, streams: 100 },
  { table: 0, windowBits: 7, streams: 10 },
  { table: 100, windowBits: 10, streams: 50 },
  { table: 65_536, windowBits: 20, streams: 1_000 },
]

export interface EchoServer {
  readonly origin: string
  stop(): Promise<void>
}

export interface Echo {
  start(round: Round): Promise<EchoServer>
  /** Whether the header x-id comes back, besides the body. */
  readonly echoesId: boolean
  /** The body comes back, or else the path. */
  readonly echoesBody: boolean
  /** Headers that make the server send GOAWAY, and answer with HEADERS and CONTINUATION. */
  readonly goaway?: readonly string[]
  readonly long?: readonly string[]
}

export const certificate = makeCertificate()

const goaway = ['x-goaway', '1'] as const
const long = ['x-long', '1'] as const

export const nodeEcho: Echo = { echoesId: true, echoesBody: true, goaway, long, start: startNode }
export const goEcho: Echo = { echoesId: true, echoesBody: true, goaway, long, start: startGo }
export const nghttpdEcho: Echo = { echoesId: false, echoesBody: true, start: startNghttpd }
/** nginx sends GOAWAY by itself, after 1,000 requests of a connection. */
export const nginxEcho: Echo = { echoesId: true, echoesBody: false, long, start: startNginx }

async function startNode({ table, windowBits, streams }: Round): Promise<EchoServer> {
  const settings = { headerTableSize: table, initialWindowSize: 2 ** windowBits - 1, maxConcurrentStreams: streams }
  const server = createSecureServer({ ...certificate, settings })
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
    session.on('error', () => {})
  })
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const pieces = headers['x-long'] ? [0, 1, 2, 3].map((n) => [`x-long-${n}`, 'long '.repeat(1_200)]) : []
      stream.respond({ ':status': 200, 'x-id': headers['x-id'], ...Object.fromEntries(pieces) })
      stream.end(Buffer.concat(chunks))
      if (headers['x-goaway']) stream.session?.close()
    })
  })
  return {
    origin: await listenAt(server, { scheme: 'https' }),
    async stop() {
      for (const session of sessions) session.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function startGo({ table, windowBits, streams }: Round): Promise<EchoServer> {
  const folder = writeCertificate()
  const port = await freePort()
  const sizes = ['--table', `${table}`, '--window', `${2 ** windowBits - 1}`, '--streams', `${streams}`]
  const args = ['--port', `${port}`, '--cert', join(folder, 'cert.pem'), '--key', join(folder, 'key.pem'), ...sizes]
  const server = await startServer({ program: await goProgram('server'), args, folder, ready: /^listening/ })
  return { origin: `https://127.0.0.1:${port}`, stop: () => server.end() }
}

function startNghttpd({ table, windowBits, streams }: Round): Promise<EchoServer> {
  return tryThreeTimes(async () => {
    const program = await addressOf(nghttpdService)
    const folder = writeCertificate()
    const port = await freePort()
    const sizes = [
      '-c',
      `${table}`,
      '--encoder-header-table-size',
      `${table}`,
      '-w',
      `${windowBits}`,
      '-m',
      `${streams}`,
    ]
    const more = ['--padding=100', '--trailer', 'x-trailer: 1', '--echo-upload', '-v', '-a', '127.0.0.1']
    const args = [...sizes, ...more, `${port}`, join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const server = await startServer({ program, args, env: environmentOf(program), folder, ready: /listen/ })
    return { origin: `https://127.0.0.1:${port}`, stop: () => server.end() }
  })
}

function startNginx({ windowBits, streams }: Round): Promise<EchoServer> {
  return tryThreeTimes(async () => {
    const program = await addressOf(nginxService)
    const folder = writeCertificate()
    const port = await freePort()
    const pieces = [0, 1, 2, 3].map((n) => `add_header x-long-${n} $long;`).join(' ')
    const config = `daemon off; master_process off; pid ${folder}/pid; error_log stderr notice;
events { worker_connections 100; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  map $http_x_long $long { default ''; 1 '${'long '.repeat(700)}'; }
  server {
    listen 127.0.0.1:${port} ssl http2;
    ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
    http2_max_concurrent_streams ${streams}; http2_body_preread_size ${2 ** windowBits - 1};
    keepalive_requests 1000;
    location / { add_header x-id $http_x_id; ${pieces} ${pieces.replaceAll('x-long', 'x-longer')} return 200 $request_uri; }
  }
}
`
    writeFileSync(join(folder, 'nginx.conf'), config)
    const args = ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')]
    const server = await startServer({ program, args, env: environmentOf(program), folder, ready: /start|using the/ })
    return { origin: `https://127.0.0.1:${port}`, stop: () => server.end() }
  })
}

/** @returns a folder of its own for a server, with cert.pem and key.pem */
function writeCertificate(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bellwire-http2-'))
  writeFileSync(join(folder, 'cert.pem'), certificate.cert)
  writeFileSync(join(folder, 'key.pem'), certificate.key)
  return folder
}
