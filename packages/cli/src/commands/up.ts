/** `roost up`: starts node and hub, or finds them, and tells where they are. */
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { VERSION } from '../version.ts';

export function define(command: Command, context: CommandContext): void {
  command
    .option('--foreground', 'run the node here, until it is interrupted')
    .option('--no-hub', 'the node alone')
    .option('--json', 'print one JSON document')
    .action(async (options: { foreground?: boolean; hub: boolean; json?: boolean }) => {
      context.stayHere();
      if (options.foreground === true) {
        const { runForeground } = await import('../foreground-node.ts');
        context.exitCode = await runForeground({
          home: await context.home(),
          script: context.terminal.nodeScript,
          hubScript: options.hub ? context.terminal.hubScript : null,
          env: context.terminal.env,
          onReady: (line) => context.terminal.stdout.write(line),
          json: options.json === true,
        });
        return;
      }
      const { connection, started } = await context.open();
      const status = await connection.request('node.status', {});
      if (options.json === true) {
        const { home, socket, pid, nodeId, incarnation, version } = status;
        const hub = options.hub ? { hub: await bringHub(context) } : {};
        context.printJson({ started, home, socket, pid, nodeId, incarnation, version, ...hub });
        return;
      }
      context.print(`node ${status.nodeId} ${started ? 'started' : 'runs already'} (pid ${status.pid})`);
      context.print(`listening at ${status.socket}`);
      if (options.hub) {
        const { url, login } = await bringHub(context);
        context.print(`hub at ${url}`);
        context.print(`open ${login}`);
      }
      if (status.version !== VERSION) {
        context.note(
          `the node is of version ${status.version}, this command of ${VERSION}; roost down && roost up   renews it`,
        );
      }
    });
}

/** With a link for a browser, which logs in once. */
async function bringHub(
  context: CommandContext,
): Promise<{ readonly started: boolean; readonly url: string; readonly login: string }> {
  const [{ hubStatus }, { ensureHub }, { loginLink }] = await Promise.all([
    import('@roost/client'),
    import('../hub/hub-process.ts'),
    import('../hub/login-link.ts'),
  ]);
  const { target, isStarted: started } = await ensureHub(context);
  const { url: login } = await loginLink(target);
  const { url = new URL(login).origin } = await hubStatus(target);
  return { started, url, login };
}
