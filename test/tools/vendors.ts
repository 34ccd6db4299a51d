import { writeFileSync } from 'node:fs'
import { skipReason } from '../corpus/data.ts'
import { measure, passedFile } from '../support/matrix/products.ts'
import { recordedAgents } from '../support/matrix/recorded.ts'

// Lets every recorded program work with every simulated vendor, and keeps what passed for the table
// of the README.

const agents = recordedAgents()
if (agents.length === 0) {
  console.error(skipReason)
  process.exit(1)
}
const passed = await measure(agents, fault => console.error(fault))
writeFileSync(passedFile, `${JSON.stringify(passed, null, 2)}\n`)
console.log(
  `${agents.length} programs × ${Object.keys(passed).length} vendors: npm run fix writes the table`,
)
