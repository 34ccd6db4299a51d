/** What every node of the model has. */

/** Data that only one protocol can express, by protocol name. Other protocols do not write it. */
export type ExtMap = Record<string, Ext>

/** Unknown fields of one protocol. */
export type Ext = {
  /**
   * Unknown keys, as they were on the wire. The same protocol writes them back; any other makes a
   * note for each.
   */
  fields?: Record<string, unknown>
}

/**
 * Where a node was in the body that it was decoded from: a JSON pointer, or a link to the node
 * above it. Spelled only when a note needs it.
 */
export type Place = string | { readonly up: Place; readonly key: string | number }

/** Common to all nodes of the model. */
export type Node = {
  /**
   * Its place in the body that it was decoded from; used for the paths of notes. Absent: made here.
   */
  at?: Place
  ext?: ExtMap
}

/** How long a prompt cache entry lives. */
export type CacheTtl = '5m' | '30m' | '1h' | '12h'

/** What a tool of the provider does. */
export type ServerToolKind =
  | 'web_search'
  | 'web_fetch'
  | 'code_execution'
  | 'file_search'
  | 'image_generation'
  | 'mcp'
  | 'mcp_list'
  | 'mcp_approval'
  | 'tool_search'
  | 'computer'
  | 'shell'
  | 'apply_patch'
  | 'text_editor'
  | 'memory'
  | 'maps'
  | 'url_context'
  | 'advisor'
  | 'program'
  | 'other'
