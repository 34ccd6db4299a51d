import { afterEach } from 'vitest'
import { runHooks } from '../support/after-each.ts'

afterEach(runHooks)
