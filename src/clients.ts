/**
 * The address and the settings that a client needs to use a gateway.
 * @module wireglot/clients
 */
export * from './address/check.ts'
export type { PathRule } from './address/paths.ts'
export {
  type ClientConfig,
  type ClientConfigOptions,
  type ClientName,
  clientConfig,
  clientConfigText,
  clientNames,
  type Language,
  type ModelLimits,
  type Snippet,
} from './clients/index.ts'
export type { ProtocolName } from './protocols/index.ts'
