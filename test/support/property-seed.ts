/**
 * Property tests draw the same cases in every run, so that a failure is everybody's failure; PROPERTY_SEED=random (or a
 * number) looks for new ones. What it finds becomes a case of its own.
 */
import fc from 'fast-check';

const { PROPERTY_SEED: seed } = process.env;
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed ?? 20_261_129) });
