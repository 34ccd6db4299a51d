/** Values of fields that are named like secrets, such as the authorization of a tool server. */
const secretField =
  /("[^"\\]{0,40}(?:authorization|api[-_]?key|secret|password|token)"\s{0,9}:\s{0,9})"(?:[^"\\]|\\.)*"?/gi
/** Keys as vendors write them, and those of this gateway. */
export const secretShape =
  /\b(?:(?:wg|sk|pk|rk|xai|nvapi|glpat|xox[abps])-|(?:sk|pk|rk|gsk|ghp|gho|ghs|github_pat|hf)_|AIza|AKIA|ASIA|ya29\.)[-_A-Za-z0-9]{16,200}|\bBearer [-._~+/A-Za-z0-9]{8,500}|\.eyJ[-_A-Za-z0-9]{10,500}|PRIVATE KEY-----[^-"]+/g

/** A text with `***` in place of what looks like a secret. */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(secretField, '$1"***"').replaceAll(secretShape, '***')
