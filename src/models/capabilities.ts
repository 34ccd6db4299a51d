import type { Modality } from './model.ts'

/**
 * What a model, or the server that runs it, can do by itself. What is absent is not known, and
 * nothing is done because of it.
 */
export type Capabilities = {
  /** What it reads. A `file` is a document such as a PDF. */
  input?: readonly Modality[]
  /** `prompt`: it has no tools; they are described in its instructions. */
  tools?: 'native' | 'prompt'
  /** `prompt`: it has no format of the output; the schema stands in its instructions. */
  structuredOutput?: 'native' | 'prompt'
  /** Some of its calls of tools come as text, and their arguments may be broken JSON. */
  leaksToolCalls?: boolean
}
