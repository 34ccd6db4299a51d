import fc from 'fast-check'

/**
 * Laws run over the same random values every time, so that a change and not the dice decides whether they hold.
 * `npm run laws` throws new dice and prints their seed, to be given to WIREGLOT_LAW_SEED.
 */
fc.configureGlobal({ seed: Number(process.env['WIREGLOT_LAW_SEED'] ?? '20261121') })
