import type { Maker } from './model.ts'

const guide = {
  date: '2026-11-23',
  url: 'https://www.alibabacloud.com/help/en/model-studio/deep-thinking',
}
const registry = {
  date: '2026-08-22',
  url: 'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
}
const words = {
  date: '2026-11-29',
  url: 'https://docs.apiyi.com/en/api-capabilities/qwen-3-8/chat-completions.md',
}

export const alibaba = {
  name: 'alibaba',
  title: 'Alibaba',
  protocols: ['chat-completions'],
  models: [
    {
      names: ['qwen3.8+-max*', 'qwen-3.8+-max*'],
      thinking: ['off', 'effort'],
      efforts: 'low medium high xhigh',
      sources: [guide, registry, words],
    },
  ],
} as const satisfies Maker
