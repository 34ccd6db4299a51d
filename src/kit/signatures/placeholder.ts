/** The placeholder that servers of Gemini accept instead of the lost signature of a call. */
export const placeholder = 'skip_thought_signature_validator'
