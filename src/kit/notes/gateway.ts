import type { Note } from '../../canonical/note.ts'
import type { NoteTable } from '../../protocol.ts'

/** Notes that the gateway adds to those of the translation. */
export const gatewayNotes = {
  'gateway.failed-over': {
    kind: 'approximated',
    meaning: 'A channel of the model could not serve the request; another one does.',
    advice: 'Nothing to do; the log names the channel and its error.',
  },
  'gateway.fallback-model': {
    kind: 'approximated',
    meaning: 'No channel of the requested model could serve the request; a fallback model does.',
    advice: 'Nothing to do; the header wireglot-fallback names the model.',
  },
  'gateway.resumed': {
    kind: 'approximated',
    meaning: 'The stream broke in the middle of the response; a further call continues it.',
    advice: 'Nothing to do; the log names the channel and its error.',
  },
  'gateway.server-tool': {
    kind: 'emulated',
    meaning: 'The application runs this tool of a provider; the model gets a function.',
  },
  'gateway.compacted': {
    kind: 'emulated',
    meaning: 'The upstream makes no compactions; the model has written a summary instead.',
  },
  'gateway.described': {
    kind: 'emulated',
    meaning: 'The model reads no images; another model has described this one.',
  },
  'gateway.document-text': {
    kind: 'emulated',
    meaning: 'The model reads no documents; the application has taken the text out of this one.',
  },
  'gateway.output-retried': {
    kind: 'emulated',
    meaning:
      'The answer did not fit the format that the request wants; the model was asked once more.',
  },
  'gateway.output-invalid': {
    kind: 'approximated',
    meaning: 'The answer does not fit the format that the request wants.',
    advice: 'Choose a model with structured output, or a simpler schema.',
  },
  'gateway.field-set': {
    kind: 'approximated',
    meaning: 'The configuration of the gateway replaces the value of this field.',
    advice:
      'The configuration of the gateway sets this field for the model or its channel: ask the operator.',
  },
  'gateway.beta-dropped': {
    kind: 'dropped',
    meaning:
      'InvokeModel of Amazon Bedrock refuses requests with a beta flag that it does not know; the flag is dropped.',
    advice:
      'Nothing to do, unless the request needs the feature: then use a channel without InvokeModel.',
  },
} as const satisfies NoteTable

/** `path`: a JSON pointer into the request; of a set field into the request for the upstream. */
export function gatewayNote(code: keyof typeof gatewayNotes, path: string): Note {
  const { kind, meaning } = gatewayNotes[code]
  return { kind, path, code, reason: meaning, target: 'gateway' }
}
