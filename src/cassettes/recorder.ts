import { keyNames } from '../gateway/admission/credential.ts'
import { checkOptions } from '../gateway/check-options.ts'
import type { Hooks, Logger, Tape, TapedCall, TapeEvent } from '../gateway/gateway.ts'
import { Capture, type Captured, type Room } from './capture.ts'
import { find } from './folder.ts'
import { createThread, sizeOf } from './thread/thread.ts'

/** What a recorder keeps. */
export type RecorderOptions = {
  /** Keep the content of images, audio and files. Default false. */
  media?: boolean | undefined
  /** What is kept of the bodies of one exchange, in bytes. Default 16 MiB. */
  fileLimitBytes?: number | undefined
  /** The oldest files of the folder are deleted when it is larger, in bytes. Default 1 GiB. */
  folderLimitBytes?: number | undefined
  /**
   * How much may wait to be written, in bytes. While it is more, exchanges are not recorded. Default
   * 64 MiB.
   */
  queueLimitBytes?: number | undefined
  /**
   * Gets a warning when files cannot be written, once until they can be again, and the number of
   * exchanges that are left out, once a minute.
   */
  logger?: Pick<Logger, 'warn'> | undefined
}

/** Writes the exchanges of a gateway into files. */
export type Recorder = {
  /** For a gateway. */
  hooks: Required<Pick<Hooks, 'tape'>>
  /** The file of a request, by its id, as it stands there. Undefined: there is none. */
  find(id: string): Promise<string | undefined>
  /** Waits until all exchanges that have ended are written, and ends the thread that writes. */
  flush(): Promise<void>
}

/** In bytes, of all exchanges that are in progress or wait to be written. */
const mostHeld = 128 * 1024 * 1024
/** How long the rest of a response is waited for after the exchange has ended. */
const lateMs = 250
/** How often the log says that exchanges are left out. */
const saidMs = 60_000

/**
 * Writes each exchange of a gateway into a file of the folder, as a cassette: what the client sent,
 * what each upstream got and sent, and what the client got. Secrets are replaced. A thread of its
 * own does so, and no answer waits for it: while it is far behind, exchanges are not recorded, and
 * the log says how many.
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
  checkOptions(options, [
    'media',
    'fileLimitBytes',
    'folderLimitBytes',
    'queueLimitBytes',
    'logger',
  ])
  const { media = false, fileLimitBytes = 16 * 1024 * 1024 } = options
  const {
    folderLimitBytes = 1024 * 1024 * 1024,
    queueLimitBytes = 64 * 1024 * 1024,
    logger,
  } = options
  let open = 0
  let held = 0
  let waiting = 0
  let leftOut = 0
  let saidAt = Number.NEGATIVE_INFINITY
  let isFailing = false

  const thread = createThread(
    { folder, folderLimitBytes, media, keyNames },
    {
      written(bytes, failure) {
        waiting -= bytes
        held -= bytes
        if (failure !== undefined && !isFailing)
          logger?.warn({ folder, error: failure }, 'cassettes cannot be written')
        isFailing = failure !== undefined
      },
    },
  )

  function sayLeftOut(): void {
    if (leftOut === 0) return
    const message = 'exchanges were not recorded: writing cassettes does not keep up'
    logger?.warn({ folder, exchanges: leftOut }, message)
    leftOut = 0
    saidAt = Date.now()
  }

  function keep(captured: Captured): void {
    open--
    const size = sizeOf(captured)
    held += size - captured.held
    waiting += size
    thread.add(captured)
  }

  return {
    hooks: {
      tape(call) {
        if (waiting > queueLimitBytes) {
          leftOut++
          if (Date.now() - saidAt > saidMs) sayLeftOut()
          return undefined
        }
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
      await thread.idle()
      return find(folder, id)
    },
    async flush() {
      if (open > 0) await new Promise(resolve => setTimeout(resolve, lateMs))
      await thread.end()
      sayLeftOut()
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
