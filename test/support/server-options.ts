import type { ServerOptions } from 'node:http'

/**
 * Options of servers in tests. An idle connection stays open: on a busy machine, a client would
 * send its next request on one that the server closes at that moment.
 */
export const serverOptions: ServerOptions = { keepAliveTimeout: 0 }
