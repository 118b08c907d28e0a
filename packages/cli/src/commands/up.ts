/** `roost up`: starts the node, or finds it, and tells where it listens. */
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { VERSION } from '../version.ts';

export function define(command: Command, context: CommandContext): void {
  command
    .option('--foreground', 'run the node here, until it is interrupted')
    .option('--json', 'print one JSON document')
    .action(async (options: { foreground?: boolean; json?: boolean }) => {
      if (options.foreground === true) {
        const { runForeground } = await import('../foreground-node.ts');
        context.exitCode = await runForeground({
          home: await context.home(),
          script: context.terminal.nodeScript,
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
        context.printJson({ started, home, socket, pid, nodeId, incarnation, version });
        return;
      }
      context.print(`node ${status.nodeId} ${started ? 'started' : 'runs already'} (pid ${status.pid})`);
      context.print(`listening at ${status.socket}`);
      if (status.version !== VERSION) {
        context.note(
          `the node is of version ${status.version}, this command of ${VERSION}; roost down && roost up   renews it`,
        );
      }
    });
}
