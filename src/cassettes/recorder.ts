import { checkOptions } from '../gateway/check-options.ts'
import type { Hooks, Logger, Tape, TapedCall, TapeEvent } from '../gateway/gateway.ts'
import { Capture, type Captured, type Room } from './capture.ts'
import { createFolder, nameOf } from './folder.ts'
import type { Cassette } from './format.ts'
import { cassetteOf } from './write.ts'

/** What a recorder keeps. */
export type RecorderOptions = {
  /** Keep the content of images, audio and files. Default false. */
  media?: boolean | undefined
  /** What is kept of the bodies of one exchange, in bytes. Default 16 MiB. */
  fileLimitBytes?: number | undefined
  /** The oldest files of the folder are deleted when it is larger, in bytes. Default 1 GiB. */
  folderLimitBytes?: number | undefined
  /** Gets a warning when files cannot be written, once until they can be again. */
  logger?: Pick<Logger, 'warn'> | undefined
}

/** Writes the exchanges of a gateway into files. */
export type Recorder = {
  /** For a gateway. */
  hooks: Required<Pick<Hooks, 'tape'>>
  /** The file of a request, by its id, as it stands there. Undefined: there is none. */
  find(id: string): Promise<string | undefined>
  /** Waits until all exchanges that have ended are written. */
  flush(): Promise<void>
}

/** In bytes, of all exchanges that are in progress or wait to be written. */
const mostHeld = 128 * 1024 * 1024
/** How long the rest of a response is waited for after the exchange has ended. */
const lateMs = 250

/**
 * Writes each exchange of a gateway into a file of the folder, as a cassette: what the client sent,
 * what each upstream got and sent, and what the client got. Secrets are replaced. What does not fit
 * into memory or cannot be written is left out: no answer waits for it.
 * @throws ConfigError for an unknown option
 * @example
 * import { createRecorder } from 'wireglot/cassettes'
 * import { gateway } from 'wireglot/connect'
 *
 * const recorder = createRecorder('cassettes')
 * const handler = gateway({ channels: [{ name: 'demo', embedded: 'demo' }] }, recorder.hooks)
 * await handler.close()
 * await recorder.flush()
 */
export function createRecorder(folder: string, options: RecorderOptions = {}): Recorder {
  checkOptions(options, ['media', 'fileLimitBytes', 'folderLimitBytes', 'logger'])
  const { media = false, fileLimitBytes = 16 * 1024 * 1024 } = options
  const { folderLimitBytes = 1024 * 1024 * 1024, logger } = options
  const files = createFolder(folder, folderLimitBytes)
  let open = 0
  let held = 0
  let isFailing = false
  let writing = Promise.resolve()

  async function write(cassette: Cassette): Promise<void> {
    try {
      await files.add(nameOf(cassette), `${JSON.stringify(cassette, undefined, 1)}\n`)
      isFailing = false
    } catch (error) {
      if (!isFailing) logger?.warn({ folder, error }, 'cassettes cannot be written')
      isFailing = true
    }
  }

  function keep(captured: Captured): void {
    open--
    writing = writing.then(async () => {
      try {
        const cassette = cassetteOf(captured, media)
        if (cassette) await write(cassette)
      } catch (error) {
        logger?.warn({ folder, error }, 'a cassette cannot be written')
      } finally {
        held -= captured.held
      }
    })
  }

  return {
    hooks: {
      tape(call) {
        open++
        return taped(call, {
          take(bytes, before) {
            if (before + bytes > fileLimitBytes || held + bytes > mostHeld) return false
            held += bytes
            return true
          },
          keep,
        })
      },
    },
    async find(id) {
      await writing
      return files.find(id)
    },
    async flush() {
      if (open > 0) await new Promise(resolve => setTimeout(resolve, lateMs))
      await writing
    },
  }
}

type Keeping = Room & { keep(captured: Captured): void }

/** The tape of one exchange, which is kept once it has ended and all of its bodies have. */
function taped(call: TapedCall, { keep, ...room }: Keeping): Tape {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isKept = false
  const capture = new Capture(call, room)
  const keepOnce = () => {
    if (isKept) return
    isKept = true
    clearTimeout(timer)
    keep(capture.captured)
  }
  return event => {
    if (isKept) return
    capture.take(event)
    if (!endings.has(event.type)) return
    if (capture.isComplete()) keepOnce()
    // A client that has left reads no further, and neither may the gateway.
    else if (event.type === 'end') timer = setTimeout(keepOnce, lateMs)
  }
}

const endings: ReadonlySet<TapeEvent['type']> = new Set(['end', 'respond.end', 'receive.end'])
