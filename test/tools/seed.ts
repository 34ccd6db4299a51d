import fc from 'fast-check'

/**
 * Properties run over the same random values every time, so that a change and not chance decides
 * whether they hold. `npm run laws` uses a new seed and prints it, for WIREGLOT_LAW_SEED.
 */
fc.configureGlobal({ seed: Number(process.env['WIREGLOT_LAW_SEED'] ?? '20261121') })
