// Imported before everything else: schemas that are compiled need `eval`, which the hub's policy forbids; trying it is reported as an attack.
import { config } from 'zod';

config({ jitless: true });
