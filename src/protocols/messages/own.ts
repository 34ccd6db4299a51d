import { ownOf } from '../../kit/own.ts'
import { name } from './vocabulary.ts'

export { nulls, under } from '../../kit/own.ts'
export const { keep, ownKeys, ownForm, ownUnder } = ownOf(name)
