// A scripted agent CLI. The process entry: reads the scenario and hands over to the terminal or the pipe.
import { runPipeAgent } from './agent/pipe-agent.ts';
import { flagNames, readScenario } from './agent/scenario.ts';
import { runTerminalAgent } from './agent/terminal-agent.ts';

const argv = process.argv.slice(2);
if (argv.includes('--help')) {
  process.stdout.write(
    `lab-agent [flags]\n${flagNames()
      .map((name) => `  --${name}\n`)
      .join('')}`,
  );
} else if (argv.includes('--version')) {
  process.stdout.write('lab-agent 1.0.0\n');
} else {
  try {
    const scenario = readScenario(argv);
    await (scenario.settings.pipe ? runPipeAgent(scenario) : runTerminalAgent(scenario));
  } catch (error) {
    process.stderr.write(`lab-agent: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}
