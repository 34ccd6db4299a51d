/**
 * The lines of this time are written at once: a write takes longer than everything else that a line
 * of the log needs.
 */
const everyMs = 20

/**
 * A function that writes lines to a stream, some milliseconds later. What waits is written when the
 * process exits. `SIGKILL` loses it. The stream must write synchronously, as standard output does
 * on Linux. `mostBytes`: of one write; only a line that is longer has more.
 */
export function linesTo(
  stream: { write(text: string): unknown },
  mostBytes = Infinity,
): (line: string) => void {
  let waiting = ''
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const text = waiting
    waiting = ''
    if (text !== '') stream.write(text)
  }
  process.on('exit', flush)
  return line => {
    // A character has up to three bytes for each unit of its text.
    if (3 * (waiting.length + line.length) >= mostBytes) flush()
    waiting += `${line}\n`
    timer ??= setTimeout(flush, everyMs).unref()
  }
}

/** Shared, so that the process has one listener for its exit. */
export const toStdout = linesTo(process.stdout)
