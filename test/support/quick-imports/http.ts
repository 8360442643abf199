// node:http of test/support/quick-imports/resolve.ts, without the names that load fetch and WebSocket of Node.

const http = process.getBuiltinModule('node:http')
export const { Agent, ClientRequest, createServer, get, globalAgent, IncomingMessage } = http
export const { maxHeaderSize, METHODS, OutgoingMessage, request, Server, ServerResponse, STATUS_CODES } = http
