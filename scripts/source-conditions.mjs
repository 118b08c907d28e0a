/**
 * Conditions under which packages of this repository are taken as their sources; `module` is what esbuild would take without any.
 */
export const SOURCE_CONDITIONS = ['roost-source', 'module'];
