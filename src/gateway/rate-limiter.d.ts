/** The package's main file loads every store it knows; these need no platform. They have no types of their own. */
declare module 'rate-limiter-flexible/lib/RateLimiterMemory.js' {
  import { RateLimiterMemory } from 'rate-limiter-flexible'

  export default RateLimiterMemory
}

declare module 'rate-limiter-flexible/lib/RateLimiterRedis.js' {
  import { RateLimiterRedis } from 'rate-limiter-flexible'

  export default RateLimiterRedis
}
