/** An amount for people: in cents, and below ten cents with two more digits. */
export function dollars(value: number): string {
  if (value > 0 && value < 0.0001) return '<$0.0001'
  return `$${value.toFixed(value !== 0 && value < 0.1 ? 4 : 2)}`
}
