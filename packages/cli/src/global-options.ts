/** Options that every command takes. */
export interface GlobalOptions {
  readonly home?: string;
  /** False with `--no-start`. */
  readonly start?: boolean;
}
