import tab from '@bomb.sh/tab/commander'
import type { Command } from 'commander'

const guide = `
Completes commands, options and their values. The shell must find the command intake: as a program, an alias or a
function. bash needs the package bash-completion.

Examples:
  intake() { node /opt/intake/scripts/intake.mjs "$@"; }
  source <(intake completion bash)                       in ~/.bashrc
  source <(intake completion zsh)                        in ~/.zshrc, after compinit
  intake completion fish > ~/.config/fish/completions/intake.fish`

/**
 * Adds `completion <shell>`, and the hidden command by which the shell's script asks: `complete -- <words>`.
 * Only commands that are added before are completed.
 */
export function addCompletion(program: Command): void {
  tab(program, { completionCommandName: 'completion' })
  program.commands.find((command) => command.name() === 'completion')?.addHelpText('after', guide)
}
