// `import … from 'node:http'` would also load the fetch and WebSocket of Node: 40 ms of processor time at each start of a process.

import type * as http from 'node:http'

export const { Agent, createServer, request, ServerResponse } = process.getBuiltinModule('node:http')
export type Agent = http.Agent
export type ServerResponse = http.ServerResponse
