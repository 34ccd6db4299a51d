import type { OpenItem } from './decoder-state.ts'

/** The items that none of a list was taken for yet. */
export class LeftItems {
  readonly #places = new Map<string, { indexes: number[]; next: number }>()
  readonly #taken = new Set<number>()

  constructor(items: Readonly<Record<number, OpenItem>>) {
    for (const [key, { type, id, call }] of Object.entries(items)) {
      const index = Number(key)
      this.#add(`type ${type}`, index)
      if (id !== undefined) this.#add(`id ${id}`, index)
      if (call !== undefined) this.#add(`call ${call}`, index)
    }
  }

  /** Takes the first item with this id or this id of a call. */
  named(id: unknown, call: unknown): number | undefined {
    const byId = isText(id) ? this.#next(`id ${id}`) : undefined
    const byCall = isText(call) ? this.#next(`call ${call}`) : undefined
    const isBoth = byId !== undefined && byCall !== undefined
    return this.#take(isBoth ? Math.min(byId, byCall) : (byId ?? byCall))
  }

  /** Takes the first item of a type. */
  typed(type: string): number | undefined {
    return this.#take(this.#next(`type ${type}`))
  }

  #add(name: string, index: number): void {
    const place = this.#places.get(name)
    if (place) place.indexes.push(index)
    else this.#places.set(name, { indexes: [index], next: 0 })
  }

  #next(name: string): number | undefined {
    const place = this.#places.get(name)
    if (!place) return undefined
    let index = place.indexes[place.next]
    while (index !== undefined && this.#taken.has(index)) index = place.indexes[++place.next]
    return index
  }

  #take(index: number | undefined): number | undefined {
    if (index !== undefined) this.#taken.add(index)
    return index
  }
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''
