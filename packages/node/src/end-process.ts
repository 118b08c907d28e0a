// The end of the process when everything is given back. `exit` joins the threads that do file calls: with one that hangs in the
// kernel (a file system that went away) it never returns (seen with Node 20), and nobody could start the next node.

export function endProcess(exitCode: number): void {
  const hasFileCall = process.getActiveResourcesInfo().some((kind) => kind.startsWith('FSReq'));
  // There is nothing left to tidy up, and no exit code that could be told.
  if (hasFileCall) process.kill(process.pid, 'SIGKILL');
  process.exit(exitCode);
}
