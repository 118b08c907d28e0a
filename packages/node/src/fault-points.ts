// Named moments between the steps of an act that outlives the node: where a crash has to leave something that heals. Nodes of
// people pass them without stopping; a test starts a node that ends itself at one (`startNodeThatEndsAt`).

/** Called with the name of the moment, such as `worktree-create:added`; what it throws or waits for happens there. */
export type FaultHook = (point: string) => void | Promise<void>;

export const NO_FAULTS: FaultHook = () => undefined;
