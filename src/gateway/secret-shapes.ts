/** Values of fields that are named like secrets, such as the authorization of a tool server. */
const secretField =
  /("[^"\\]{0,40}(?:authorization|api[-_]?key|secret|password|token)"\s{0,9}:\s{0,9})"(?:[^"\\]|\\.)*"?/gi
/** Keys as vendors write them, and those of this gateway. */
export const secretShape =
  /\b(?:(?:wg|sk|pk|rk|xai|nvapi|glpat|xox[abps])-|(?:sk|pk|rk|gsk|ghp|gho|ghs|github_pat|hf)_|AIza|AKIA|ASIA|ya29\.)[-_A-Za-z0-9]{16,200}|\bBearer [-._~+/A-Za-z0-9]{8,500}|\.eyJ[-_A-Za-z0-9]{10,500}|PRIVATE KEY-----[^-"]+/g

/** A text with `***` in place of what looks like a secret. */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(secretField, '$1"***"').replaceAll(secretShape, '***')

/** The secret itself, with JSON escapes, and with URL escapes. For most keys these are the same. */
export function spellingsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  const coded = (text: string, letters: RegExp, code: (hex: string) => string) =>
    text.replace(
      letters,
      letter => `\\u00${code(letter.charCodeAt(0).toString(16).padStart(2, '0'))}`,
    )
  const small = (hex: string) => hex
  const large = (hex: string) => hex.toUpperCase()
  return [
    ...new Set([
      secret,
      json,
      json.replaceAll('/', '\\/'),
      coded(json, /[<>&]/g, small),
      coded(json, /[<>&=']/g, small),
      coded(secret.replaceAll('\\', '\\\\'), /[<>&+"'`]/g, large),
      encodeURIComponent(secret.toWellFormed()),
    ]),
  ]
}

/** The names of query parameters that may hold a secret. */
export const secretParameter = /key|token|secret/i
