import { createOwn } from '../../kit/own.ts'
import { name } from './vocabulary.ts'

export { nulls, told, under } from '../../kit/own.ts'
export const { keep, ownForm, ownKeys, ownOf, ownUnder, wireOf } = createOwn(name)
