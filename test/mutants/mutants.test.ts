import { expect, test } from 'vitest'
import { fileOf, mutants } from './mutants.ts'

test('finds the code of every listed fault, each with its own name', () => {
  const faults = mutants.flatMap(mutant => {
    try {
      fileOf(mutant)
      return mutant.replace === mutant.find ? [`"${mutant.fault}" changes nothing`] : []
    } catch (error) {
      return [String(error)]
    }
  })
  expect(faults).toEqual([])
  expect(new Set(mutants.map(({ fault }) => fault)).size).toBe(mutants.length)
})
