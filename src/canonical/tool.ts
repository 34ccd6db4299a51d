import type { CacheTtl, Node, Place, ServerToolKind } from './node.ts'

/** A JSON Schema. Its keywords are not checked. */
export type JsonSchema = Record<string, unknown>

/** A tool whose arguments are a JSON object. */
export type FunctionTool = Node & {
  type: 'function'
  name: string
  description?: string
  /** Absent or null: the function takes no arguments. */
  parameters?: JsonSchema | null
  /** Absent: the protocol's own default, which differs between protocols. */
  strict?: boolean | null
  /** The request did not set it: `strict` is the default of its protocol for such a schema. */
  strictImplied?: true
  /** `parameters` is an object `{ value }` around what the client described, which is no object. */
  wrapped?: true
  output?: unknown
  examples?: unknown[]
  /** The model sees the tool only after a tool search has found it. */
  deferLoading?: boolean
  /**
   * Who may call it: the model (`direct`), or code that the provider runs. Absent: the protocol's
   * own default.
   */
  allowedCallers?: string[]
  async?: boolean
  /** Stream the arguments without validating them first. */
  eagerStreaming?: boolean
  namespace?: string
  /**
   * The description of the namespace, at its first tool only. `namespaceFields`: unknown keys of
   * the namespace.
   */
  namespaceDescription?: string
  namespaceFields?: Record<string, unknown>
  /**
   * The built-in tool, as on the wire, that this function is for models of other providers: the
   * client runs both.
   */
  builtIn?: unknown
  cache?: { ttl?: CacheTtl }
}

/** Its input is text instead of JSON, possibly constrained by a grammar. */
export type FreeformTool = Node & {
  type: 'freeform'
  name: string
  description?: string
  format?: { type: 'text' } | { type: 'grammar'; syntax: string; definition: string }
  namespace?: string
  /** See `FunctionTool`. */
  namespaceDescription?: string
  namespaceFields?: Record<string, unknown>
  deferLoading?: boolean
  allowedCallers?: string[]
  async?: boolean
}

/**
 * A built-in tool of a provider. `raw`: the definition on the wire; `common`: the fields that
 * several providers have.
 */
export type ServerTool = Node & {
  type: 'server'
  tool: ServerToolKind
  protocol: string
  name?: string
  /** The client runs it; the provider only defines its schema. */
  clientExecuted?: boolean
  raw: unknown
  common?: {
    maxUses?: number
    allowedDomains?: string[]
    blockedDomains?: string[]
    userLocation?: { city?: string; country?: string; region?: string; timezone?: string }
    contextSize?: 'low' | 'medium' | 'high'
  }
  /** Of tool `mcp`: the server. */
  mcp?: McpServer
  cache?: { ttl?: CacheTtl }
}

/** An MCP server, in the fields that several providers have. */
export type McpServer = {
  label: string
  /** JSON pointer to the server's definition, when it is outside the tool. */
  at?: Place
  url?: string
  authorization?: string
  /** Absent: all of its tools. */
  allowed?: string[]
  deferLoading?: boolean
  /** Does the client have to approve calls? */
  approval: boolean
  /** Keys that only the source protocol has. */
  others?: Record<string, unknown>
}

/** A tool that only its own protocol knows. */
export type OpaqueTool = Node & { type: 'opaque'; protocol: string; raw: unknown }

/** A tool that the model may use. */
export type Tool = FunctionTool | FreeformTool | ServerTool | OpaqueTool

/** Which tools the model may or must call. */
export type ToolChoice =
  /** As `auto`, or as `allowed` when tools are named; arguments have to match their schemas. */
  | { mode: 'validated'; tools?: string[] }
  | { mode: 'auto' }
  | { mode: 'none' }
  | { mode: 'required' }
  | {
      mode: 'tool'
      kind: 'function' | 'freeform' | 'server'
      name: string
      namespace?: string
      protocol?: string
      raw?: unknown
    }
  /** Only these may be called. `require`: at least one of them must be. */
  | { mode: 'allowed'; require: boolean; tools: AllowedTool[] }
  | { mode: 'opaque'; protocol: string; raw: unknown }

/** `at`: see `Node`. */
export type AllowedTool = {
  kind: 'function' | 'freeform' | 'server'
  name: string
  at?: Place
  protocol?: string
  raw?: unknown
}
