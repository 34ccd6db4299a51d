import type { NoteTable } from '../../protocol.ts'

/** Notes of the bridge: what it did in place of the model or its server. */
export const bridgeNotes = {
  'tool-call.recovered': {
    kind: 'emulated',
    meaning: 'The model wrote a call of a tool as text; it becomes a call.',
    advice: 'Turn on the parser of tool calls for this model on its server.',
  },
  'tool-call.repaired': {
    kind: 'emulated',
    meaning: 'The arguments of the call were broken JSON; they are repaired.',
  },
  'tool-call.text-details': {
    kind: 'dropped',
    meaning: 'The text held a call of a tool: its citations and log probabilities are left out.',
  },
  'tool.prompted': {
    kind: 'emulated',
    meaning:
      'The model has no tools: the instructions describe them, and it calls them in its text.',
    advice: 'Choose a model with tools.',
  },
  'tool.left-out': {
    kind: 'dropped',
    meaning: 'The model has no tools: one that a provider would run is left out.',
    advice: 'Run it in the gateway: see the hook `serverTools`.',
  },
  'tool-call.prompted': {
    kind: 'emulated',
    meaning: 'The model has no tools: an earlier call, or its result, is written as text.',
  },
  'output.prompted': {
    kind: 'emulated',
    meaning: 'The server has no format of the output: the instructions ask for the JSON.',
  },
  'output.repaired': {
    kind: 'emulated',
    meaning: 'The text held more than JSON, or broken JSON: the JSON alone is left.',
  },
  'media.placeholder': {
    kind: 'emulated',
    meaning: 'The model does not read this medium; a sentence says that it was there.',
    advice: 'Choose a model that reads it, or correct what the model can do.',
  },
} as const satisfies NoteTable
