import type { CacheTtl, Node, ServerToolKind } from './message.ts'

export type JsonSchema = Record<string, unknown>

export type FunctionTool = Node & {
  type: 'function'
  name: string
  description?: string
  /** Absent or null: the function takes no arguments. */
  parameters?: JsonSchema | null
  /** Absent: the protocol's own default, which differs between protocols. */
  strict?: boolean | null
  output?: unknown
  examples?: unknown[]
  /** The model is shown the tool only when a search has found it. */
  deferLoading?: boolean
  /** Who may call it: the model, or code that the provider runs. Absent: the protocol's own default. */
  allowedCallers?: string[]
  async?: boolean
  /** Its arguments are streamed before they are known to be valid. */
  eagerStreaming?: boolean
  namespace?: string
  /** The description of the namespace; only its first tool carries it. `namespaceFields`: keys of it that the model does not know. */
  namespaceDescription?: string
  namespaceFields?: Record<string, unknown>
  cache?: { ttl?: CacheTtl }
}

/** Takes text that need not be JSON, possibly held to a grammar. */
export type FreeformTool = Node & {
  type: 'freeform'
  name: string
  description?: string
  format?: { type: 'text' } | { type: 'grammar'; syntax: string; definition: string }
  namespace?: string
  /** As of functions. */
  namespaceDescription?: string
  namespaceFields?: Record<string, unknown>
  deferLoading?: boolean
  allowedCallers?: string[]
  async?: boolean
}

/** Built into the provider. Fields never match between vendors; `raw` is whole, `common` is what can be compared. */
export type ServerTool = Node & {
  type: 'server'
  tool: ServerToolKind
  protocol: string
  name?: string
  /** The client runs it, the provider only knows its schema. */
  clientExecuted?: boolean
  raw: unknown
  common?: {
    maxUses?: number
    allowedDomains?: string[]
    blockedDomains?: string[]
    userLocation?: { city?: string; country?: string; region?: string; timezone?: string }
    contextSize?: 'low' | 'medium' | 'high'
  }
  /** Of kind `mcp`: the server that the provider asks. */
  mcp?: McpServer
  cache?: { ttl?: CacheTtl }
}

/** What providers agree on about a server of tools. */
export type McpServer = {
  label: string
  /** Where it is described, when that is not in the tool. */
  at?: string
  url?: string
  authorization?: string
  /** Absent: all of its tools. */
  allowed?: string[]
  deferLoading?: boolean
  /** Does the client have to agree to calls? */
  approval: boolean
  /** Keys that only the protocol it was said in knows. */
  others?: Record<string, unknown>
}

export type OpaqueTool = Node & { type: 'opaque'; protocol: string; raw: unknown }

export type Tool = FunctionTool | FreeformTool | ServerTool | OpaqueTool

export type ToolChoice =
  | PlainToolChoice
  /** As `auto`, or `allowed` where tools are named; arguments are held to their schemas. */
  | { mode: 'validated'; tools?: string[] }

export type PlainToolChoice =
  | { mode: 'auto' }
  | { mode: 'none' }
  | { mode: 'required' }
  | { mode: 'tool'; kind: 'function' | 'freeform' | 'server'; name: string; namespace?: string; protocol?: string; raw?: unknown }
  /** Only these may be called; `require`: one of them must. */
  | { mode: 'allowed'; require: boolean; tools: AllowedTool[] }
  | { mode: 'opaque'; protocol: string; raw: unknown }

/** `at`: where it stood, as of nodes. */
export type AllowedTool = { kind: 'function' | 'freeform' | 'server'; name: string; at?: string; protocol?: string; raw?: unknown }
