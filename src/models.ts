/**
 * What is known about models: limits, thinking, what they refuse, and their prices.
 * @module wireglot/models
 */
export { type Known, knownModel, makers } from './models/index.ts'
export type { Maker, Modality, Model, Source, ThinkingForm } from './models/model.ts'
export { knownPrice, type ModelPrice, modelPrices } from './models/prices.ts'
