import { type Argument, InvalidArgumentError, type Option } from 'commander'
import { nameFault } from '../kit/text/similar.ts'

/** Parses one of these names. The message for another one says which was meant. */
export function oneOf<Name extends string>(names: readonly Name[]): (value: string) => Name {
  return value => {
    const name = names.find(one => one === value)
    if (name !== undefined) return name
    const fault = nameFault(value, names) ?? ''
    throw new InvalidArgumentError(`${fault.slice(0, 1).toUpperCase()}${fault.slice(1)}`)
  }
}

/** The same for an option or an argument, whose help then lists the names. */
export function withChoices<T extends Argument | Option>(target: T, names: readonly string[]): T {
  target.choices(names)
  target.argParser(oneOf(names))
  return target
}
