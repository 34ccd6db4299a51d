/** The most models with a label of their own. */
const mostModels = 200

/**
 * The labels of models in metrics. Where a configuration has `*`, clients choose the names, and
 * each label is a metric series for good: only the first 200 models that responded have their own
 * label, every other one is `other`.
 */
export function createModelLabels(): (model: string, isServed: boolean) => string {
  const known = new Set<string>()
  return (model, isServed) => {
    if (known.has(model)) return model
    if (!isServed || known.size >= mostModels) return 'other'
    known.add(model)
    return model
  }
}
