/** Version of this build; the bundler puts it in. */
export const VERSION = process.env.ROOST_VERSION ?? '0.0.0-source';
