import { isObject } from '../strict/faults.ts'
import {
  closed,
  type Host,
  isStrict,
  objectAtRoot,
  openName,
  openProtocols,
  pythonPatterns,
  rootWithout,
} from './host.ts'
import { atRoot, listIn, newestDraft, refuses, type SchemaRule } from './schema-rules.ts'

// https://github.com/SylphxAI/pdf-reader-mcp/issues/63 (2025-05-22)
export const mistral: Host = {
  protocols: ['chat-completions'],
  name: openName,
  rules: () => [
    newestDraft,
    objectAtRoot,
    // https://github.com/BerriAI/litellm/pull/13389 (2025-08-07)
    refuses(key => key === '$schema' || key === '$id'),
  ],
}

// https://github.com/esengine/DeepSeek-Reasonix/issues/4456 (2026-06-15): the draft,
// https://github.com/refly-ai/refly/issues/1794 (2025-12-10) and
// https://github.com/mrexodia/ida-pro-mcp/issues/129 (2025-09-06): names,
// https://api-docs.deepseek.com/api/create-chat-completion (2026-11-30): at most 128 functions,
// https://github.com/anthropics/claude-code/issues/92964 (2026-09-09): patterns,
// https://github.com/NangoHQ/nango/issues/7547 (2026-09-15): brackets in brackets
const noNestedBrackets: SchemaRule = ({ schema, at }, faults) => {
  const { pattern } = schema
  let isOpen = false
  for (const [one] of typeof pattern === 'string' ? pattern.matchAll(/\\.|[[\]]/gs) : []) {
    if (one === '[' && isOpen) faults.push(`${at}: '${String(pattern)}' is not a 'regex'`)
    if (one.length === 1) isOpen = one === '['
  }
}

export const deepseek: Host = {
  protocols: openProtocols,
  name: openName,
  most: 128,
  rules: () => [newestDraft, objectAtRoot, pythonPatterns, noNestedBrackets],
}

export const groq: Host = {
  protocols: openProtocols,
  name: openName,
  // https://github.com/groq/groq-python/blob/007affd05/src/groq/types/chat/completion_create_params.py
  // (2026-11-30)
  most: 128,
  rules: declared => [
    // https://github.com/langchain-ai/langchain/issues/31132 (2026-11-30)
    newestDraft,
    objectAtRoot,
    // https://github.com/usestrix/strix/issues/1088 (2026-08-16)
    atRoot(({ schema, at }, faults) => {
      if (schema['required'] && !isObject(schema['properties']))
        faults.push(`${at}: 'required' present but 'properties' is missing`)
    }),
    // https://github.com/eigent-ai/eigent/pull/1786 (2026-07-19)
    ...(isStrict(declared) ? [closed] : []),
  ],
}

// https://github.com/theopenco/llmgateway/pull/1455 (2026-01-15),
// https://github.com/agno-agi/agno/issues/6013 (2026-01-14)
export const cerebras: Host = {
  protocols: ['chat-completions'],
  name: openName,
  rules: declared => [newestDraft, objectAtRoot, ...(isStrict(declared) ? [closed] : [])],
}

export const xai: Host = {
  protocols: openProtocols,
  name: openName,
  // https://github.com/router-for-me/CLIProxyAPI/issues/5214 (2026-08-24)
  most: 200,
  rules: () => [
    newestDraft,
    objectAtRoot,
    // https://github.com/farion1231/cc-switch/issues/6815 (2026-08-31)
    rootWithout('anyOf', 'oneOf'),
    // https://github.com/tailcallhq/forgecode/pull/2809 (2026-04-02)
    refuses((key, value) => key === 'enum' && listIn(value).includes(null)),
  ],
}
