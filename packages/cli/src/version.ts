/** Version of this build; the bundler puts it in. */
export const VERSION = process.env.ROOST_VERSION ?? '0.0.0-source';

/** Names the content of the program that ships beside the command; the bundler puts it in. */
export const PROGRAM_HASH = process.env.ROOST_PROGRAM_HASH ?? 'source';
