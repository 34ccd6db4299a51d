import type { NoteTable } from '../../protocol.ts'

/** Notes that every encoder may make. */
export const commonNotes = {
  'candidates.first-only': {
    kind: 'dropped',
    meaning: 'The target protocol has one candidate; the others are dropped.',
    advice: 'Request one candidate.',
  },
  'error.details': {
    kind: 'dropped',
    meaning: 'The target has no field for these details of the error.',
  },
  'error.status': {
    kind: 'approximated',
    meaning: 'The target does not have this status; the nearest one is written.',
  },
  'event.progress': {
    kind: 'dropped',
    meaning: 'Only the source protocol has events for the progress of a provider tool.',
  },
  'event.unknown': {
    kind: 'dropped',
    meaning: 'wireglot does not know this stream event; only its own protocol receives it.',
  },
  'field.unknown': {
    kind: 'dropped',
    meaning: 'wireglot does not know this field; only its own protocol receives it.',
    advice: 'Check the spelling.',
  },
  'field.unsupported': {
    kind: 'dropped',
    meaning: 'The target protocol has no field for this.',
    advice: 'Remove it, or set `strict` to refuse.',
  },
  'freeform.wrapped': {
    kind: 'approximated',
    meaning: 'A freeform tool becomes a function with one string; its grammar is not enforced.',
  },
  'message.envelope': {
    kind: 'dropped',
    meaning: 'The target has no id or status for single messages.',
  },
  'message.name': { kind: 'dropped', meaning: 'The target has no participant name.' },
  'message.role': {
    kind: 'approximated',
    meaning: 'A response has one role in the target; the role of this message is dropped.',
  },
  'part.foreign': {
    kind: 'approximated',
    meaning: 'A content part in the form of another protocol is read as its text, image or file.',
    advice: "Send the part in its protocol's form.",
  },
  'part.unknown': {
    kind: 'dropped',
    meaning: 'wireglot does not know this type of content; only its own protocol receives it.',
    advice: 'Nothing to do; `strict` refuses it instead.',
  },
  'part.unsupported': {
    kind: 'dropped',
    meaning: 'The target has no content of this kind here.',
    advice: 'Nothing to do; `strict` refuses it instead.',
  },
  'state.unresolvable': {
    kind: 'dropped',
    meaning:
      'Only the provider of the source protocol can do this: look up stored data, run in the background, or compact the conversation.',
    advice: 'Pass resolvers, see docs/guides/state.md.',
  },
  'system.developer-role': {
    kind: 'approximated',
    meaning:
      'The target has no role `developer`, or its server may refuse it; `system` is written.',
    advice: 'Toward chat-completions, set `chatCompletions.instructionsRole`. Else nothing to do.',
  },
  'system.hoisted': {
    kind: 'approximated',
    meaning: 'An instruction inside the conversation moves before it.',
    advice: 'See `systemPlacement`.',
  },
  'system.joined': {
    kind: 'approximated',
    meaning:
      'Many servers accept only one system message, so this one is joined to the one before it.',
    advice: 'See `systemPlacement`.',
  },
  'system.mid-conversation-as-user': {
    kind: 'approximated',
    meaning: 'The server may refuse a system message here, so it becomes user text.',
    advice: 'See `systemPlacement`.',
  },
  'tool-call.id': {
    kind: 'approximated',
    meaning: 'The target does not accept this call id; the call and its result get another one.',
  },
  'tool-result.flattened': {
    kind: 'approximated',
    meaning: 'Content of a tool result that only another protocol has is written as text.',
  },
  'tool-result.synthesized': {
    kind: 'synthesized',
    meaning: 'This call has no result, which servers refuse; a result reports the interruption.',
    advice: 'See `tools.repair`.',
  },
  'tool.namespace': {
    kind: 'approximated',
    meaning:
      'The target has no tool namespaces; the namespace becomes part of the name and is restored in the response.',
  },
  'tool.renamed': {
    kind: 'approximated',
    meaning:
      'The target does not accept this tool name; another one is written and restored in the response.',
  },
  'tool.unknown': {
    kind: 'dropped',
    meaning: 'wireglot does not know this type of tool; only its own protocol receives it.',
  },
} as const satisfies NoteTable

/** Notes that several protocols make, with one meaning in all of them. */
export const sharedNotes = {
  'cache.unsupported': {
    kind: 'dropped',
    meaning:
      'The target takes no cache breakpoint at this content, or cache breakpoints are not written.',
    advice: 'Toward chat-completions, set `chatCompletions.cacheMarks`.',
  },
  'cache.auto': {
    kind: 'synthesized',
    meaning: 'The last cacheable block is marked for the prompt cache.',
    advice: 'Turn off `autoCache` to avoid it.',
  },
  'cache.too-many': {
    kind: 'dropped',
    meaning: 'The target accepts at most four cache breakpoints; the further ones are dropped.',
    advice: 'Set at most four.',
  },
  'cache.ttl': {
    kind: 'approximated',
    meaning: 'The target does not have this cache lifetime; its nearest one is written.',
  },
  'citation.approximated': {
    kind: 'approximated',
    meaning: 'The target expresses only a part of this citation, such as its span, title and URL.',
  },
  'citation.unsupported': {
    kind: 'dropped',
    meaning: 'The target cannot express a citation of this kind here.',
    advice: 'Nothing to do; `strict` refuses it instead.',
  },
  'error.reworded': {
    kind: 'approximated',
    meaning: 'Clients recognize a full context by its wording, which is put before the message.',
  },
  'file.foreign-id': {
    kind: 'dropped',
    meaning: 'A file id is valid only at the provider that issued it.',
    advice: 'Pass `resolveFile`.',
  },
  'finish.approximated': {
    kind: 'approximated',
    meaning: 'The target does not have this finish reason; the nearest one is written.',
  },
  'finish.details': {
    kind: 'dropped',
    meaning:
      'The target has no field for the matched sequence, message or category of a finish reason.',
  },
  'finish.truncated-as-length': {
    kind: 'approximated',
    meaning: 'The source stopped early; the output ends as if the length limit was reached.',
    advice: "Set `truncated: 'error'` to get an error instead.",
  },
  'max-tokens.raised': {
    kind: 'approximated',
    meaning: 'The token limit is below the minimum of the target; the minimum is written.',
    advice: 'Raise the limit.',
  },
  'media.detail': {
    kind: 'approximated',
    meaning: 'The target has other detail levels for images; the nearest one is written.',
  },
  'media.filename': {
    kind: 'synthesized',
    meaning: 'File data requires a file name; a default is written.',
    advice: 'Send the file name.',
  },
  'media.mime': {
    kind: 'synthesized',
    meaning: 'The target requires a media type; the default of this kind is written.',
    advice: 'Send the media type.',
  },
  'media.title-as-filename': {
    kind: 'approximated',
    meaning: 'The target has a file name but no title; the title is written as the file name.',
  },
  'media.transcript': { kind: 'approximated', meaning: 'Audio is written as its transcript.' },
  'media.unsupported': {
    kind: 'dropped',
    meaning: 'The target accepts no media of this kind or format here.',
    advice: 'Convert it, see `convertMedia`.',
  },
  'message.leading-user': {
    kind: 'synthesized',
    meaning: 'The conversation must begin with a user message; one is inserted.',
    advice: 'See `leadingUser`.',
  },
  'output.enum': {
    kind: 'approximated',
    meaning: 'A response that is one of several words is requested as JSON that contains the word.',
  },
  'output.strict': {
    kind: 'approximated',
    meaning: 'The target always enforces the schema of the response.',
  },
  'output.voice': {
    kind: 'approximated',
    meaning: 'Voices have other names at each provider; the name is written unchanged.',
    advice: 'Choose a voice of the target.',
  },
  'output.wrapped': {
    kind: 'approximated',
    meaning:
      'The root of a schema must be an object, so the value is requested as `{ value }` and unwrapped in the response.',
  },
  'message.trailing-user': {
    kind: 'synthesized',
    meaning:
      'The model refuses a conversation that ends with the assistant, or the client does not mean one to be continued; a user message asks to go on.',
  },
  'reasoning.always-on': {
    kind: 'approximated',
    meaning: 'This model always reasons; reasoning stays on.',
    advice: 'Use another model.',
  },
  'reasoning.budget-as-effort': {
    kind: 'approximated',
    meaning: 'The token budget for reasoning is replaced by an effort.',
    advice: 'Send an effort.',
  },
  'reasoning.forced-tool': {
    kind: 'approximated',
    meaning: 'A forced tool is not combined with thinking, which is turned off; an effort stays.',
  },
  'reasoning.placeholder-signature': {
    kind: 'synthesized',
    meaning:
      'The first call of a step requires a signature; the documented placeholder is written.',
  },
  'reasoning.signature-orphaned': {
    kind: 'dropped',
    meaning: 'The part that this reasoning signature belongs to is no longer in the message.',
    advice: 'Send messages back unchanged.',
  },
  'reasoning.dropped-upstream': {
    kind: 'dropped',
    meaning: 'The provider ignored reasoning of the request.',
  },
  'reasoning.effort': {
    kind: 'approximated',
    meaning: 'The server does not have this reasoning effort; the nearest one is written.',
  },
  'reasoning.effort-as-budget': {
    kind: 'approximated',
    meaning: 'The reasoning effort is written as a token budget.',
  },
  'reasoning.foreign-signature': {
    kind: 'dropped',
    meaning: 'A reasoning signature is valid only at the provider that issued it.',
    advice: 'Nothing to do; see `foreignSignatures` for a gateway behind a gateway.',
  },
  'reasoning.joined': {
    kind: 'approximated',
    meaning: 'Several reasoning segments are joined into one text.',
  },
  'reasoning.kind': {
    kind: 'approximated',
    meaning: 'Raw reasoning is written as a reasoning summary.',
    advice: 'See `responses.rawReasoning`.',
  },
  'reasoning.mode-as-effort': {
    kind: 'approximated',
    meaning: 'The reasoning mode is written as the nearest effort.',
  },
  'reasoning.no-effort': {
    kind: 'dropped',
    meaning: 'This model has no reasoning effort.',
    advice: 'Remove the effort.',
  },
  'reasoning.off': {
    kind: 'approximated',
    meaning: 'Reasoning is off, so effort and budget are ignored.',
  },
  'reasoning.other-model': {
    kind: 'approximated',
    meaning: 'Another model signed this reasoning; the requested model may ignore or refuse it.',
  },
  'reasoning.shown': {
    kind: 'approximated',
    meaning: 'The source protocol shows reasoning by default, so it is requested here.',
  },
  'reasoning.summary': {
    kind: 'approximated',
    meaning: 'A kind of reasoning summary is written as whether reasoning is shown.',
  },
  'reasoning.disabled-unsigned-loop': {
    kind: 'approximated',
    meaning:
      'Reasoning is off in this tool loop, because the history has no valid signatures for it.',
    advice: 'Nothing to do; the next user message ends it.',
  },
  'reasoning.unsigned': {
    kind: 'dropped',
    meaning: 'The target accepts no reasoning without a signature or an encrypted form.',
  },
  'refusal.as-text': { kind: 'approximated', meaning: 'A refusal is written as text.' },
  'refusal.synthesized': {
    kind: 'synthesized',
    meaning: 'A refusal requires a text; the explanation or an empty text is written.',
  },
  'response.created': {
    kind: 'synthesized',
    meaning: 'The target requires a creation time; `now` is written, or 0 without it.',
    advice: 'Pass `now`.',
  },
  'response.id': {
    kind: 'synthesized',
    meaning: 'The target requires a response id, and the source has none.',
    advice: 'Pass `newId`.',
  },
  'response.model': {
    kind: 'synthesized',
    meaning: 'The target requires a model name, and the source has none.',
    advice: 'Pass `model`.',
  },
  'tool-call.input-object': {
    kind: 'approximated',
    meaning: 'The arguments are an object instead of JSON text; they are serialized.',
  },
  'schema.keywords': {
    kind: 'approximated',
    meaning:
      'The server refuses some keywords of this schema; they move into the description and are not enforced.',
    advice: 'Use a simpler schema.',
  },
  'schema.name': {
    kind: 'synthesized',
    meaning: 'The target requires a schema name; a default is written.',
    advice: 'Name the schema.',
  },
  'server-tool.image-only': {
    kind: 'approximated',
    meaning: 'Of a tool that generated an image, only the image is written.',
  },
  'server-tool.dropped': {
    kind: 'dropped',
    meaning: 'Only the source provider knows this tool; its earlier use is dropped.',
  },
  'stop.too-many': {
    kind: 'approximated',
    meaning: 'The target accepts fewer stop sequences; the further ones are dropped.',
    advice: 'Send fewer.',
  },
  'stream.final-differs': {
    kind: 'dropped',
    meaning: 'The final content of a part differs from its deltas; only the deltas are kept.',
  },
  'stream.repeated-start': {
    kind: 'dropped',
    meaning: 'A response, message or part of the stream starts a second time.',
  },
  'stream.stray-delta': {
    kind: 'dropped',
    meaning: 'A delta belongs to no open part, or does not fit its part.',
  },
  'stream.trailing-arguments': {
    kind: 'approximated',
    meaning: 'The arguments of a tool call were already complete; the text after them is dropped.',
  },
  'tier.nearest': {
    kind: 'approximated',
    meaning: 'The target does not have this service tier; the nearest one is written.',
  },
  'tier.unsupported': {
    kind: 'dropped',
    meaning: 'The target does not have this service tier.',
    advice: 'Remove it.',
  },
  'tool-call.cut': {
    kind: 'dropped',
    meaning:
      'The token limit truncated the arguments of the call; the target accepts only complete arguments.',
    advice: 'Raise the token limit.',
  },
  'tool-call.empty-input': {
    kind: 'synthesized',
    meaning: 'A function call without arguments requires an empty object.',
  },
  'tool-call.input': {
    kind: 'approximated',
    meaning: 'The arguments are not a JSON object; they are wrapped into one.',
  },
  'tool-call.number': {
    kind: 'approximated',
    meaning:
      'A number of the arguments has more digits than JavaScript can represent. Streams, the command and the gateway write all of them.',
    advice: 'Send it as a string.',
  },
  'tool-result.call-id': {
    kind: 'approximated',
    meaning: 'The tool result has no call id; it is paired with an open call by name or order.',
    advice: 'Send the call id.',
  },
  'tool-result.error-flag': {
    kind: 'approximated',
    meaning: 'The target has no error flag for tool results; the text is unchanged.',
    advice: 'See `tools.errorPrefix`.',
  },
  'tool-result.media-moved': {
    kind: 'approximated',
    meaning: 'The target accepts no media in tool results; the media follows in user content.',
  },
  'tool.expanded': {
    kind: 'approximated',
    meaning: 'A tool that the client runs is written as a function with its documented input.',
    advice: 'See `tools.expandClientTools`.',
  },
  'tool.loaded': {
    kind: 'approximated',
    meaning: 'The tool is loaded from the start, because the request has no tool search.',
  },
  'tool.server': {
    kind: 'dropped',
    meaning: 'Only the source provider knows this tool.',
    advice: "Set `tools.serverTools: 'map'` to use the nearest tool.",
  },
  'tool.server-mapped': {
    kind: 'approximated',
    meaning: 'A tool of the source provider is replaced by the nearest tool of the target.',
    advice: "Set `tools.serverTools: 'drop'` to drop it.",
  },
  'tool-choice.unsupported': {
    kind: 'dropped',
    meaning: 'The target cannot express this tool choice.',
  },
  'tool-choice.without-tools': {
    kind: 'dropped',
    meaning: 'A tool choice requires tools.',
    advice: 'Remove it.',
  },
  'usage.merged': {
    kind: 'approximated',
    meaning: 'The target does not separate tokens of this kind; they are counted with others.',
  },
  'usage.overlap': {
    kind: 'approximated',
    meaning: 'A part of the token counts is larger than its total; the counts are adjusted.',
  },
  'usage.missing': {
    kind: 'synthesized',
    meaning: 'The target requires token counts, and the source has none.',
  },
  'user.hashed': {
    kind: 'approximated',
    meaning: 'The user id is longer than the target accepts; its hash is written.',
    advice: 'Use a shorter id.',
  },
  'text.blank': {
    kind: 'dropped',
    meaning: 'The target refuses text that is empty or only white space.',
  },
  'media.converted': {
    kind: 'approximated',
    meaning: 'The option `convertMedia` converted this to a format that the target accepts.',
  },
  'media.file-as-document': {
    kind: 'approximated',
    meaning: 'A text file is written as a plain text document.',
  },
  'media.detail-dropped': {
    kind: 'dropped',
    meaning: 'The target has no detail level for images.',
  },
  'media.filename-as-title': {
    kind: 'approximated',
    meaning: 'The file name is written as the title of the document.',
  },
  'citation.foreign': {
    kind: 'dropped',
    meaning: 'The target accepts only citations that its own provider made.',
  },
  'tool-choice.not-forced': {
    kind: 'dropped',
    meaning: 'The server cannot force a tool call; the model decides.',
    advice: 'Toward chat-completions, see `chatCompletions.toolChoice`.',
  },
  'citation.span': {
    kind: 'approximated',
    meaning: 'A citation covers a whole text block in the target; its exact span is dropped.',
  },
  'cache.key-hashed': {
    kind: 'approximated',
    meaning: 'A cache key has at most 64 characters; a hash of it is written.',
    advice: 'Use a shorter key.',
  },
  'output.format-instructed': {
    kind: 'approximated',
    meaning:
      'The server does not support this response format; the instructions request it in words.',
    advice:
      'See `chatCompletions.formats` and `generateContent.jsonWithTools`. Toward Claude, let the schema have fewer optional properties and unions, and no recursion.',
  },
  'reasoning.budget-raised': {
    kind: 'approximated',
    meaning: 'The reasoning budget is below the minimum of 1024 tokens; the minimum is written.',
    advice: 'Raise the budget.',
  },
  'reasoning.budget-room': {
    kind: 'approximated',
    meaning: '`max_tokens` must exceed the reasoning budget, so it is raised.',
    advice: 'Raise `max_tokens`.',
  },
  'tool-call.input-text': {
    kind: 'approximated',
    meaning: 'The arguments are text; they are parsed as JSON.',
  },
  'tool-choice.subset-filtered': {
    kind: 'approximated',
    meaning: 'The target cannot allow a subset of tools; the other tools are not offered.',
  },
  'tool-choice.subset-not-enforced': {
    kind: 'approximated',
    meaning: 'All tools are offered, although only some are allowed.',
  },
  'tool-choice.not-allowed': {
    kind: 'approximated',
    meaning: 'The model called a tool that was not among the allowed tools.',
  },
  'output.closed': {
    kind: 'approximated',
    meaning:
      'The server requires closed schemas: `additionalProperties: false` is added to objects.',
    advice: 'Add it to your schema.',
  },
  'output.json-instructed': {
    kind: 'synthesized',
    meaning: 'JSON without a schema is requested in the system prompt.',
    advice: 'Use a schema.',
  },
  'stop.blank': {
    kind: 'dropped',
    meaning: 'A stop sequence must contain more than white space.',
    advice: 'Remove it.',
  },
  'sampling.temperature-clamped': {
    kind: 'approximated',
    meaning: 'The maximum temperature of the target is 1; 1 is written.',
    advice: 'Use at most 1.',
  },
  'text.trimmed': {
    kind: 'approximated',
    meaning: 'The last text of the assistant must not end with white space, so that is cut off.',
    advice: 'Cut it off yourself.',
  },
  'sampling.with-thinking': {
    kind: 'dropped',
    meaning: 'The server refuses sampling fields together with thinking.',
    advice: 'Turn thinking off, or remove the sampling fields.',
  },
  'sampling.model': {
    kind: 'dropped',
    meaning: 'This model refuses the parameter, or refuses it together with temperature.',
    advice: 'Remove it.',
  },
  'cache.ttl-order': {
    kind: 'approximated',
    meaning:
      'A longer cache lifetime may not follow a shorter one; the nearest valid lifetime is written.',
    advice: 'Put longer lifetimes first.',
  },
  'finish.tool-use': {
    kind: 'approximated',
    meaning: 'A response with tool calls ends with the stop reason for tool use.',
  },
  'stop.no-call': {
    kind: 'approximated',
    meaning: 'A response without tool calls does not end for tool use; a normal end is written.',
  },
  'usage.ttl': {
    kind: 'approximated',
    meaning: 'Cache writes are counted for two lifetimes; other lifetimes are merged.',
  },
  'tool.strict': {
    kind: 'dropped',
    meaning:
      'The server does not take this schema in strict tools, or strict tools next to others; the tool is sent, but not as a strict one.',
    advice: 'Use simpler schemas, with all properties required, in all tools.',
  },
} as const satisfies NoteTable

/** Notes that say the same of every node: one for each field is enough. */
export const notedOnce: ReadonlySet<string> = new Set(['message.envelope', 'message.ids'])

/** The notes that every codec may make. */
export type SharedNotes = typeof commonNotes & typeof sharedNotes
