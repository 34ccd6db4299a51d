import type { Source } from '../models/model.ts'

/** Sources of facts about several vendors; those about one stand in its file. */

export const modelsDev: Source = {
  date: '2026-07-02',
  url: 'https://github.com/anomalyco/models.dev/tree/f3fc69229',
}
export const pydanticAi: Source = {
  date: '2026-08-22',
  url: 'https://github.com/pydantic/pydantic-ai/tree/4fda38988',
}
export const aiSdk: Source = {
  date: '2026-08-22',
  url: 'https://github.com/vercel/ai/tree/ed857f50f',
}
export const opencodex: Source = {
  date: '2026-08-22',
  url: 'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
}
export const pi: Source = {
  date: '2026-11-23',
  url: 'https://github.com/earendil-works/pi/tree/2e5a972a',
}
export const ccSwitch: Source = {
  date: '2026-08-21',
  url: 'https://github.com/farion1231/cc-switch/tree/5ca9459d5',
}
export const digest: Source = {
  date: '2026-11-23',
  url: 'https://www.developersdigest.tech/reference/api-compatibility',
}
export const templates: Source = {
  date: '2026-08-15',
  url: 'https://github.com/ollama/ollama/issues/17774',
}
export const openaiReference: Source = {
  date: '2026-11-23',
  url: 'https://platform.openai.com/docs/api-reference',
}
export const openaiSchemas: Source = {
  date: '2026-11-23',
  url: 'https://platform.openai.com/docs/guides/structured-outputs',
}
export const optionalFields: Source = {
  date: '2026-11-23',
  url: 'https://github.com/huggingface/huggingface.js/issues/2268',
}
export const geminiReferences: Source = {
  date: '2026-02-05',
  url: 'https://github.com/anomalyco/opencode/issues/12295',
}
/** "Expected an array with maximum length 128" */
export const openaiTools: Source = {
  date: '2025-08-23',
  url: 'https://github.com/musistudio/claude-code-router/issues/686',
}
/** "At most 512 function declarations can be specified" */
export const geminiTools: Source = {
  date: '2026-02-14',
  url: 'https://github.com/google-gemini/gemini-cli/issues/19083',
}
export const metaschema: Source = {
  date: '2026-04-16',
  url: 'https://github.com/griptape-ai/griptape/issues/2150',
}
