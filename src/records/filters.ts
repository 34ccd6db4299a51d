import { z } from 'zod'
import { dimensions } from './queries.ts'

/** PostgreSQL holds no U+0000 in texts. */
export const text = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\0]*$/, 'expected no U+0000')

const time = z.coerce.number().int().min(0).max(8.64e15).optional()
const filter = {
  from: time,
  to: time,
  key: text.optional(),
  group: text.optional(),
  model: text.optional(),
  channel: text.optional(),
}

/** Query parameters for records. */
export const RecordQuery = z.strictObject({
  ...filter,
  status: z.coerce.number().int().min(100).max(599).optional(),
  failed: z.stringbool().optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: text.optional(),
})

/**
 * Query parameters for fields that upstreams have refused. Names of models may be longer than those
 * in records.
 */
export const LearnedQuery = z.strictObject({
  channel: text.optional(),
  model: z.string().max(4000).optional(),
  field: z.string().max(4000).optional(),
})

/** Query parameters for sums of usage. `total`: of the whole time span, not of parts of it. */
export const UsageQuery = z.strictObject({
  ...filter,
  by: z.enum(dimensions).optional(),
  total: z.stringbool().optional(),
})
