/** Options that every command takes. */
export interface GlobalOptions {
  readonly home?: string;
  /** False with `--no-start`. */
  readonly start?: boolean;
  /** Name or id of a node of the hub. */
  readonly node?: string;
}
