import fc from 'fast-check'

/**
 * Laws run over the same random values every time, so that a change and not the dice decides whether they hold.
 * `npm run laws` throws new dice; a failure prints the seed to give to WIREGLOT_LAW_SEED.
 */
const given = process.env['WIREGLOT_LAW_SEED'] ?? '20261121'
const seed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given)
if (given === 'random') process.stdout.write(`WIREGLOT_LAW_SEED=${seed}\n`)
fc.configureGlobal({ seed })
