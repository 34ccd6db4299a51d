import { accessSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const common = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
]

const executablePath = [process.env['CHROMIUM_PATH'], ...common].find(
  path => path !== undefined && isThere(path),
)

export const browserTitle = `in Chromium${executablePath ? '' : ' (skipped: no Chromium, say where one is in CHROMIUM_PATH)'}`

export const browserInstalled = executablePath !== undefined

/** Root may not use its sandbox. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: executablePath ?? '',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
}

function isThere(path: string): boolean {
  try {
    accessSync(path)
    return true
  } catch {
    return false
  }
}
