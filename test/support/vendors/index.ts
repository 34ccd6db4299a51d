import type { VendorName } from '../../../src/vendors/index.ts'
import { alibaba } from './alibaba.ts'
import { anthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import type { Simulator } from './base/turn.ts'
import { bedrock } from './bedrock.ts'
import { cerebras } from './cerebras.ts'
import { deepseek } from './deepseek.ts'
import { fireworks } from './fireworks.ts'
import { gemini } from './gemini.ts'
import { groq } from './groq.ts'
import { huggingface } from './huggingface.ts'
import { litellm } from './litellm.ts'
import { llamaCpp } from './llama-cpp.ts'
import { lmStudio } from './lm-studio.ts'
import { minimax } from './minimax.ts'
import { mistral } from './mistral.ts'
import { moonshot } from './moonshot.ts'
import { nvidia } from './nvidia.ts'
import { ollama } from './ollama.ts'
import { openai } from './openai.ts'
import { openrouter } from './openrouter.ts'
import { perplexity } from './perplexity.ts'
import { sglang } from './sglang.ts'
import { together } from './together.ts'
import { vertex } from './vertex.ts'
import { vllm } from './vllm.ts'
import { xai } from './xai.ts'
import { zai } from './zai.ts'

export type { Simulator } from './base/turn.ts'

/**
 * A server for each vendor that refuses what the vendor refuses, written from what is known of it
 * and not from our profiles.
 */
export const simulators: Record<VendorName, Simulator> = {
  alibaba, anthropic, azure, bedrock, cerebras, deepseek, fireworks, gemini, groq, huggingface, litellm, 'llama-cpp': llamaCpp, 'lm-studio': lmStudio, minimax,
  mistral, moonshot, nvidia, ollama, openai, openrouter, perplexity, sglang, together, vertex, vllm, xai, zai,
} // biome-ignore format: one list
