import type { ProtocolName } from '../../src/protocols/index.ts'

const chatResponse = (...choices: object[]) => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices,
})
const responsesHead = { id: 'resp_1', object: 'response', created_at: 1, model: 'm' }

/** Complete responses with most of what each wire has. */
export const responses: Record<ProtocolName, object[]> = {
  'chat-completions': [
    {
      ...chatResponse(
        {
          index: 0,
          finish_reason: 'stop',
          logprobs: {
            content: [
              {
                token: 'yes',
                logprob: -1,
                bytes: [121, 101, 115],
                top_logprobs: [{ token: 'yes', logprob: -1, bytes: [121, 101, 115] }],
              },
            ],
            refusal: null,
          },
          message: {
            role: 'assistant',
            content: 'yes',
            refusal: null,
            reasoning_content: 'hm',
            annotations: [
              {
                type: 'url_citation',
                url_citation: {
                  start_index: 0,
                  end_index: 3,
                  title: 't',
                  url: 'https://example.org',
                },
              },
            ],
          },
        },
        {
          index: 1,
          finish_reason: 'stop',
          logprobs: null,
          message: { role: 'assistant', content: 'no', refusal: null },
        },
      ),
      usage: {
        prompt_tokens: 1,
        completion_tokens: 2,
        total_tokens: 3,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    },
    chatResponse({
      index: 0,
      finish_reason: 'tool_calls',
      logprobs: null,
      message: {
        role: 'assistant',
        content: null,
        refusal: null,
        reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 'QUJD', index: 0 }],
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
      },
    }),
    chatResponse({
      index: 0,
      finish_reason: 'stop',
      logprobs: null,
      message: {
        role: 'assistant',
        content: null,
        refusal: 'no',
        audio: { id: 'x', data: 'AAAA', expires_at: 9, transcript: 'b' },
      },
    }),
    chatResponse({
      index: 0,
      finish_reason: 'function_call',
      logprobs: null,
      message: {
        role: 'assistant',
        content: [{ type: 'text', text: 'yes' }],
        refusal: null,
        function_call: { name: 'f', arguments: '{}' },
      },
    }),
  ],
  responses: [
    {
      ...responsesHead,
      status: 'completed',
      output: [
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'hm' }],
          content: [{ type: 'reasoning_text', text: 'h' }],
          encrypted_content: 'QUJD',
        },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [
            {
              type: 'output_text',
              text: 'yes',
              annotations: [
                {
                  type: 'url_citation',
                  start_index: 0,
                  end_index: 3,
                  title: 't',
                  url: 'https://example.org',
                },
              ],
              logprobs: [
                {
                  token: 'yes',
                  logprob: -1,
                  bytes: [121],
                  top_logprobs: [{ token: 'yes', logprob: -1, bytes: [121] }],
                },
              ],
            },
            { type: 'refusal', refusal: 'no' },
          ],
        },
        {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'a',
          name: 'f',
          arguments: '{"x":1}',
          status: 'completed',
        },
        { type: 'custom_tool_call', id: 'ctc_1', call_id: 'b', name: 'g', input: 'x' },
        {
          type: 'web_search_call',
          id: 'ws_1',
          status: 'completed',
          action: { type: 'search', query: 'q', queries: ['q'] },
        },
        {
          type: 'code_interpreter_call',
          id: 'ci_1',
          status: 'completed',
          code: '1',
          container_id: 'c',
          outputs: [{ type: 'logs', logs: '1' }],
        },
        { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBORw0=' },
      ],
      usage: {
        input_tokens: 1,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 3,
      },
    },
    {
      ...responsesHead,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'incomplete',
          content: [{ type: 'output_text', text: 'yes', annotations: [] }],
        },
      ],
    },
  ],
  messages: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'QUJD' },
        { type: 'redacted_thinking', data: 'QUJD' },
        {
          type: 'text',
          text: 'yes',
          citations: [
            {
              type: 'web_search_result_location',
              cited_text: 'c',
              url: 'https://example.org',
              title: 't',
              encrypted_index: 'e',
            },
          ],
        },
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [
            {
              type: 'web_search_result',
              url: 'https://example.org',
              title: 't',
              encrypted_content: 'e',
              page_age: null,
            },
          ],
        },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {
        input_tokens: 1,
        output_tokens: 2,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        server_tool_use: { web_search_requests: 1 },
      },
    },
  ],
  'generate-content': [
    {
      candidates: [
        {
          index: 0,
          content: {
            role: 'model',
            parts: [
              { text: 'hm', thought: true },
              { text: 'yes', thoughtSignature: 'QUJD' },
              { inlineData: { mimeType: 'image/png', data: 'iVBORw0=' } },
              { executableCode: { language: 'PYTHON', code: '1' } },
              { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
              { functionCall: { id: 'a', name: 'f', args: { x: 1 } }, thoughtSignature: 'QUJD' },
            ],
          },
          finishReason: 'STOP',
          safetyRatings: [{ category: 'c', probability: 'LOW' }],
          groundingMetadata: {
            groundingChunks: [{ web: { uri: 'https://example.org', title: 't' } }],
            groundingSupports: [
              { segment: { startIndex: 0, endIndex: 3, text: 'yes' }, groundingChunkIndices: [0] },
            ],
            webSearchQueries: ['q'],
          },
          logprobsResult: {
            chosenCandidates: [{ token: 'yes', logProbability: -1 }],
            topCandidates: [{ candidates: [{ token: 'yes', logProbability: -1 }] }],
          },
        },
        {
          index: 1,
          content: { role: 'model', parts: [{ text: 'no' }] },
          finishReason: 'MAX_TOKENS',
        },
      ],
      usageMetadata: {
        promptTokenCount: 1,
        candidatesTokenCount: 2,
        totalTokenCount: 3,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: 1 }],
      },
      modelVersion: 'm',
      responseId: 'r1',
      createTime: '2026-01-01T00:00:00Z',
    },
    {
      promptFeedback: {
        blockReason: 'SAFETY',
        safetyRatings: [{ category: 'c', probability: 'HIGH' }],
      },
      modelVersion: 'm',
      responseId: 'r1',
    },
  ],
  converse: [
    {
      output: {
        message: {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'hm', signature: 'QUJD' } } },
            { reasoningContent: { redactedContent: 'QUJD' } },
            {
              citationsContent: {
                content: [{ text: 'yes' }],
                citations: [
                  {
                    title: 't',
                    sourceContent: [{ text: 'c' }],
                    location: { web: { url: 'https://example.org', domain: 'example.org' } },
                  },
                ],
              },
            },
            {
              toolUse: {
                toolUseId: 'srv_1',
                name: 'nova_grounding',
                input: { query: 'q' },
                type: 'server_tool_use',
              },
            },
            {
              toolResult: {
                toolUseId: 'srv_1',
                content: [{ json: { a: 1 } }],
                status: 'success',
                type: 'nova_grounding_result',
              },
            },
            { toolUse: { toolUseId: 'tooluse_1', name: 'f', input: {} } },
          ],
        },
      },
      stopReason: 'tool_use',
      usage: {
        inputTokens: 1,
        outputTokens: 2,
        totalTokens: 8,
        cacheReadInputTokens: 3,
        cacheWriteInputTokens: 2,
        cacheDetails: [{ ttl: '5m', inputTokens: 2 }],
      },
      metrics: { latencyMs: 7 },
      serviceTier: { type: 'priority' },
      performanceConfig: { latency: 'standard' },
      trace: { promptRouter: { invokedModelId: 'm' } },
    },
  ],
}
