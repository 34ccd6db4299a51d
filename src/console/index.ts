/**
 * The console: a page for browsers with a playground, usage, records, keys and channels.
 * @module wireglot/console
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkOptions } from '../gateway/check-options.ts'
import {
  type GatewayState,
  type HookRequest,
  type Hooks,
  type Identity,
  type LearnedFields,
  type Peers,
  reject,
} from '../gateway/gateway.ts'
import type { AdminSources, Records } from '../records/index.ts'
import { sendJson } from '../records/json-calls.ts'
import { createGatekeeper } from './access.ts'
import { createExchanges, keyHeader } from './exchanges.ts'
import { createRecent } from './recent.ts'

/** What the console uses of a gateway: that of `wireglot/connect` has it. */
export type ConsoleGateway = {
  readonly localOnly: boolean
  identify(request: IncomingMessage): Promise<Identity>
  state(): GatewayState
  learned(): LearnedFields
}

/** The name of the operator in records. No key of a client can have it. */
const operatorName = '(operator)'

export type ConsoleOptions = {
  /**
   * The gateway that it belongs to, under the same path. It is called at each request and not
   * before.
   */
  gateway(): ConsoleGateway
  /**
   * Opens everything. Absent: on a gateway without keys, everybody on its machine is the operator.
   */
  adminKey?: string
  /** Where usage records and keys are. Absent: the latest 2000 requests are kept in memory. */
  records?: Records
  /** The configured models. A client sees those of its key, without channels. Absent: none. */
  models?: AdminSources['models']
  /** What happens at this moment. Default: in this process, as its gateway says. */
  state?: AdminSources['state']
  /** Checks a channel with one of its models. Absent: there is no button for it. */
  verify?: AdminSources['verify']
  /** Other processes of the gateway: what is kept in memory is then that of all of them. */
  peers?: Peers
  /**
   * The file of a recorded exchange, by the id of its request: a recorder of `wireglot/cassettes`
   * has it. Absent: there is no button to save one.
   */
  cassette?: (id: string) => Promise<string | undefined>
  /**
   * The gateway serves the demo model only, so the page sends its example at once. Default false.
   */
  isDemo?: boolean
}

export type Console = {
  /**
   * For the gateway; those of `records` are called too. `authenticate`: absent without an admin key
   * and records.
   */
  hooks: Required<Pick<Hooks, 'onAttempt' | 'onUsage' | 'onNotes'>> &
    Pick<Hooks, 'authenticate' | 'reserve'>
  /** Handles `/console` and the calls of its page. False: another path, which is not touched. */
  handle(request: IncomingMessage, response: ServerResponse): boolean
}

/**
 * A console for a `node:http` server with a gateway. Its page and the translation are loaded when
 * it is opened.
 * @throws ConfigError for an unknown option
 * @example
 * import { createServer } from 'node:http'
 * import { type ConnectGateway, gateway } from 'wireglot/connect'
 * import { createConsole } from 'wireglot/console'
 *
 * const page = createConsole({ gateway: () => handler })
 * const handler: ConnectGateway = gateway({ channels: [{ name: 'demo', embedded: 'demo' }] }, page.hooks)
 * const server = createServer((request, response) => void (page.handle(request, response) || handler(request, response)))
 * server.listen(0, '127.0.0.1', () => server.close())
 */
export function createConsole(options: ConsoleOptions): Console {
  checkOptions(options, [
    'gateway',
    'adminKey',
    'records',
    'isDemo',
    'models',
    'verify',
    'cassette',
    'state',
    'peers',
  ])
  const { gateway, adminKey, records, isDemo = false, models, verify, cassette } = options
  const { state = () => gateway().state(), peers } = options
  const exchanges = createExchanges(peers)
  const recent = createRecent(records ? undefined : peers)
  const { hooks } = records ?? recent
  const gatekeeper = createGatekeeper(adminKey, gateway)
  const about = {
    isDemo,
    canManageKeys: records !== undefined && adminKey !== undefined,
    keepsRecords: records !== undefined,
    keepsCassettes: cassette !== undefined,
  }
  const parts = {
    gatekeeper,
    exchanges,
    about,
    source: records ?? recent,
    budgetsOf: records?.budgetsOf,
    state,
    learned: () => gateway().learned(),
    models,
    verify,
    cassette,
  }

  /**
   * The admin key is a key of the playground: of the operator, or in the name of a client's key.
   */
  async function authenticate(credential: string | undefined, request: HookRequest) {
    if (!gatekeeper.isAdmin(credential)) return records?.hooks.authenticate(credential, request)
    const { [keyHeader]: name } = request.headers
    if (name === undefined) return { name: operatorName }
    if (!records) throw reject(401, 'authentication', 'keys by name need records')
    return records.identify(decoded(name))
  }

  return {
    hooks: {
      ...((records || adminKey !== undefined) && { authenticate }),
      ...(records && { reserve: records.hooks.reserve }),
      onAttempt(attempt, request) {
        exchanges.onAttempt(attempt, request)
        void hooks.onAttempt(attempt, request)
      },
      onUsage(record, request) {
        exchanges.onUsage(record)
        void hooks.onUsage(record, request)
      },
      onNotes(notes, exchange, request) {
        exchanges.onNotes(notes, exchange)
        void hooks.onNotes(notes, exchange, request)
      },
    },
    handle(request, response) {
      const path = request.url?.split('?', 1)[0] ?? ''
      if (path.startsWith('/console/api/')) {
        const result = import('./api.ts').then(({ handleCall }) => handleCall(request, parts))
        sendJson(response, result, () => ({
          status: 500,
          body: { error: { message: 'the console has failed' } },
        }))
        return true
      }
      if (path !== '/console' && path !== '/console/') return false
      void import('./page.ts').then(({ sendPage }) => sendPage(request, response))
      return true
    },
  }
}

/**
 * The name in a header, which browsers send encoded. One that is not encoded properly is as it
 * came.
 */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
