import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { omitUndefined } from '../kit/fields/omit.ts'
import type {
  ChannelAddress,
  ChannelChange,
  ChannelInfo,
  ChannelModel,
  NewChannel,
} from './channels.ts'
import { isReference } from './channels.ts'
import { text } from './filters.ts'
import { type ApiResponse, bodyOf, found, ok, Refused, valid } from './json-calls.ts'

/**
 * A channel of the gateway. `from`: the configuration (`file`), or the database (`console`), where
 * it can be changed. `key`: `env:NAME`, `encrypted` (of the database) or `configured` (in the
 * configuration itself). `fault`: why it gets no requests, or not for all of its models.
 */
export type ShownChannel = ChannelAddress &
  Partial<Pick<ChannelInfo, 'key' | 'createdAt'>> & {
    name: string
    from: 'file' | 'console'
    models: ChannelModel[]
    disabled: boolean
    fault?: string
  }

/** `takesKeys`: keys can be stored; otherwise they are references. `vendors`: those there are. */
export type ShownChannels = {
  channels: ShownChannel[]
  takesKeys: boolean
  vendors: { name: string; title: string; keyVariable?: string }[]
}

/** The channels of a gateway, as the admin API shows and changes them. */
export type AdminChannels = {
  list(): Promise<ShownChannels>
  /** @throws ChannelError or ConfigError */
  create(channel: NewChannel): Promise<ShownChannel>
  /** @throws ChannelError or ConfigError */
  change(name: string, change: ChannelChange): Promise<ShownChannel>
  /** @throws ChannelError */
  delete(name: string): Promise<void>
  /** The ids that the upstream lists. Undefined: no such channel is in use. @throws Error */
  models(name: string): Promise<string[] | undefined>
}

/** `env:` means a variable, which only a key may be. */
const plain = text.refine(value => !isReference(value), 'expected no reference to a variable')
const apiKey = z
  .string()
  .trim()
  .min(1)
  .max(8192)
  .regex(/^\S+$/, 'expected a key without spaces and line breaks')
const models = z.array(z.strictObject({ id: plain, model: plain.optional() })).max(1000)
const Added = z.strictObject({
  name: z
    .string()
    .regex(/^[\w .@-]{1,100}$/, 'expected up to 100 letters, digits, spaces and .@_-'),
  vendor: plain.optional(),
  baseUrl: z
    .url({ protocol: /^https?$/, error: 'expected a URL like https://host' })
    .max(2000)
    .optional(),
  protocols: z.array(plain).min(1).max(20).optional(),
  apiKey: apiKey.optional(),
  models: models.optional(),
})
const Changed = z.strictObject({
  apiKey: apiKey.nullable().optional(),
  models: models.optional(),
  disabled: z.boolean().optional(),
})

/** The calls under `/admin/channels`. Undefined: another one. */
export async function handleChannels(
  request: IncomingMessage,
  { route, name, channels }: { route: string; name: string; channels: AdminChannels | undefined },
): Promise<ApiResponse | undefined> {
  switch (route) {
    case 'GET channels':
      return ok(await found(channels).list())
    case 'POST channels': {
      const wanted = valid(Added, await bodyOf(request)) as NewChannel
      return { status: 201, body: await found(channels).create(omitUndefined(wanted)) }
    }
    case 'PATCH channels/id': {
      const wanted = valid(Changed, await bodyOf(request)) as ChannelChange
      return ok(await found(channels).change(name, omitUndefined(wanted)))
    }
    case 'DELETE channels/id':
      await found(channels).delete(name)
      return ok({ deleted: true })
    case 'GET channels/id/models':
      return ok({ models: found(await found(channels).models(name).catch(refuse)) })
    default:
      return undefined
  }
}

/** The listing failed at the upstream, or on the way there. Proxies replace the body of a 502. */
function refuse(error: unknown): never {
  throw new Refused(424, error instanceof Error ? error.message : 'the models cannot be listed')
}
