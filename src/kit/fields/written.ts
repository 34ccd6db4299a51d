import type {
  ReasoningPart,
  RefusalPart,
  SearchResultPart,
  TextPart,
} from '../../canonical/message.ts'
import { keysOf } from './keys.ts'

/** The fields of parts that blocks have a place for, or a note of their own. */

export const writtenText = keysOf<TextPart>()('type text citations cache signature phase at ext')
export const writtenRefusal = keysOf<RefusalPart>()('type text cache signature phase at ext')
export const writtenResult = keysOf<SearchResultPart>()(
  'type source title parts citations cache signature at ext',
)
export const writtenReasoning = keysOf<ReasoningPart>()(
  'type segments redacted id signature at ext',
)
