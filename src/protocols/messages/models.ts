/** What a server takes, judged by the name of the model. */

type Version = { family: string | undefined; major: number; minor: number }

/**
 * `claude-opus-4-5-20251101`, `claude-3-5-sonnet-latest`, `anthropic.claude-sonnet-4-5-v1:0` →
 * family and version.
 */
function versionOf(model: string): Version | undefined {
  const named =
    /claude-(opus|sonnet|haiku|fable|mythos)(?:-(\d{1,2})(?!\d))?(?:[-.](\d{1,2})(?!\d))?/.exec(
      model,
    )
  const old = /claude-(?:v)?(\d{1,2})(?:[-.](\d{1,2})(?!\d))?(?:-(opus|sonnet|haiku))?/.exec(model)
  if (named?.[2]) return { family: named[1], major: Number(named[2]), minor: Number(named[3] ?? 0) }
  if (old) return { family: old[3], major: Number(old[1]), minor: Number(old[2] ?? 0) }
  return undefined
}

function before(version: Version, major: number, minor: number): boolean {
  return version.major < major || (version.major === major && version.minor < minor)
}

/** Are both known, and of different families? */
export function isOtherFamily(one: string | undefined, other: string | undefined): boolean {
  const [family, otherFamily] = [one, other].map(model =>
    model === undefined ? undefined : versionOf(model)?.family,
  )
  return family !== undefined && otherFamily !== undefined && family !== otherFamily
}

/**
 * Role `system` inside the conversation: refused by a known list of older models, and unknown to
 * servers of other vendors.
 */
export function takesMidSystem(model: string | undefined): boolean {
  if (!model?.includes('claude')) return false
  const version = versionOf(model)
  if (!version) return !/claude-(instant|v?[123])/.test(model)
  if (version.family === 'opus') return !before(version, 4, 8)
  return !before(version, 5, 0)
}

/** From 4.6 on a conversation must not end with the assistant. */
export function refusesPrefill(model: string | undefined): boolean {
  const version = model === undefined ? undefined : versionOf(model)
  return version !== undefined && !before(version, 4, 6)
}

/** Up to 4.5 there is only manual thinking; unknown and future models think adaptively. */
export function onlyManualThinking(model: string | undefined): boolean {
  const version = model === undefined ? undefined : versionOf(model)
  return version !== undefined && before(version, 4, 6)
}

/**
 * Adaptive thinking can be combined with a forced tool. An unknown name: false, because its server
 * may have manual thinking only.
 */
export function thinksAdaptively(model: string | undefined): boolean {
  const version = model === undefined ? undefined : versionOf(model)
  return version !== undefined && !before(version, 4, 6)
}

/** From Opus 4.1 on a request may have `temperature` or `top_p`, not both. */
export function takesOneSampling(model: string | undefined): boolean {
  const version = model === undefined ? undefined : versionOf(model)
  return version !== undefined && !before(version, 4, 1)
}

/** After Opus 4.6 servers refuse all sampling values but the defaults. */
export function takesNoSampling(model: string | undefined): boolean {
  const version = model === undefined ? undefined : versionOf(model)
  return version !== undefined && !before(version, 4, 7)
}

/** Some families always think, and their servers refuse to disable it. */
export function alwaysThinks(model: string | undefined): boolean {
  return model !== undefined && /claude-(fable|mythos)/.test(model)
}
