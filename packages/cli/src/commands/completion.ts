/** `roost completion`: a script for the shell, which asks `roost __complete` for candidates. */
import { Argument, type Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

const SCRIPTS = {
  bash: String.raw`# roost completion for bash: eval "$(roost completion bash)"
_roost() {
  local IFS=$'\n'
  COMPREPLY=($(roost __complete -- "${'$'}{COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _roost roost
`,
  zsh: String.raw`# roost completion for zsh: eval "$(roost completion zsh)"
_roost() {
  local -a candidates
  candidates=("${'$'}{(@f)$(roost __complete -- "${'$'}{(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "${'$'}{candidates[*]}" ]]; then
    compadd -- "${'$'}{candidates[@]}"
  else
    _files
  fi
}
compdef _roost roost
`,
  fish: String.raw`# roost completion for fish: roost completion fish | source
function __roost_candidates
  set -l words (commandline -opc) (commandline -ct)
  roost __complete -- $words[2..-1] 2>/dev/null
end
complete -c roost -a '(__roost_candidates)'
`,
} as const;

export function define(command: Command, context: CommandContext): void {
  command
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => {
      context.terminal.stdout.write(SCRIPTS[shell]);
    });
}
