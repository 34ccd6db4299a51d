/**
 * Text without anything to escape; lone surrogates are escaped, so all surrogates are left to
 * `JSON.stringify`.
 */
const plain = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/

/** How the generated writer of model lists writes single values, whose types are known. */
export const literals = {
  // `JSON.stringify` is faster for long texts.
  asString: (text: string) =>
    text.length < 5000 && plain.test(text) ? `"${text}"` : JSON.stringify(text),
  asNumber: (value: number) => (Number.isFinite(value) ? `${value}` : 'null'),
  asInteger() {},
}
