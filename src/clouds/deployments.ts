import { changed } from './call.ts'
import { takeMembers, type Wrapping } from './wrapping.ts'

/**
 * The newest version that is generally available. Source:
 * https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle
 */
const newest = '2024-10-21'

/** An endpoint directly after `/deployments`, so that the base URL names no deployment. */
const unnamed =
  /\/deployments(?=\/(?:chat\/completions|completions|embeddings|audio\/\w+|images\/\w+)$)/

/**
 * The dated API of Azure: the deployment in the path, which is the model of the request, and the
 * version of the API in the query.
 */
export const deployments: Wrapping = (call, { apiVersion = newest }) => {
  const url = new URL(call.url)
  if (!url.pathname.includes('/deployments/')) return undefined
  if (unnamed.test(url.pathname)) {
    const model = takeMembers(call.body, ['model'])?.taken['model']
    if (typeof model !== 'string') return undefined
    url.pathname = url.pathname.replace(unnamed, () => `/deployments/${encodeURIComponent(model)}`)
  }
  if (!url.searchParams.has('api-version')) url.searchParams.set('api-version', apiVersion)
  return { call: changed(call, { url: url.href }), unwrap: async response => response }
}
