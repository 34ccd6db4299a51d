export { examine } from './examine.ts'
export { examples } from './examples.ts'
export { page } from './html.ts'
export { kinds } from './recognize.ts'
