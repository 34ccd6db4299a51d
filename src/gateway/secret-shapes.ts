/** Values of fields that are named like secrets, such as the authorization of a tool server. */
const secretField =
  /("[^"\\]{0,40}(?:authorization|api[-_]?key|secret|password|token)"\s{0,9}:\s{0,9})"(?:[^"\\]|\\.)*"?/gi
/**
 * Keys as vendors write them, and those of this gateway. In JSON a key may follow an escape, such as
 * that of a line break.
 */
export const secretShape =
  /(?:\b|(?<=\\[bfnrt]|\\u[0-9a-fA-F]{4}))(?:(?:(?:wg|sk|csk|pk|rk|xai|nvapi|pplx|glpat|xox[abps]|bedrock-api-key)-|(?:sk|pk|rk|gsk|gh[opsur]|github_pat|hf|npm|tgp|whsec)_|AIza|AKIA|ASIA|ABSK|AQ\.|ya29\.)[-_A-Za-z0-9]{16,200}|Bearer [-._~+/A-Za-z0-9]{8,500})|\.eyJ[-_A-Za-z0-9]{10,500}|BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-"]+/g

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
