/** Completion in shells: each asks `slipway __complete` with the words so far. */
import { type Command, commonFlags, type Run, usageError } from '../command.ts';
import { commands } from '../commands.ts';

const scripts: Readonly<Record<string, string>> = {
  bash: `_slipway() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(slipway __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _slipway slipway
`,
  zsh: `#compdef slipway
_slipway() {
  local -a found
  found=("\${(@f)$(slipway __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -- $found
}
compdef _slipway slipway
`,
  fish: `complete -c slipway -f -a '(slipway __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

export const completion: Run = async (call) => {
  const [shell = ''] = call.args;
  const script = scripts[shell];
  if (script === undefined)
    throw usageError(`Which shell? There is completion for ${Object.keys(scripts).join(', ')}.`);
  process.stdout.write(script);
  return undefined;
};

/** What can stand where the last of the words is being typed. */
export function complete(words: readonly string[]): string[] {
  const before = words.slice(0, -1).filter((word) => !word.startsWith('-'));
  const typed = words.at(-1) ?? '';
  const [first = '', second = ''] = before;
  const command =
    commands.find(({ name }) => name === `${first} ${second}`) ?? commands.find(({ name }) => name === first);
  if (typed.startsWith('-')) return starting(typed, flagsOf(command));
  const next = commands
    .map(({ name }) => name.split(' '))
    .filter((parts) => parts.length > before.length && before.every((word, at) => parts[at] === word))
    .map((parts) => parts[before.length] ?? '');
  return starting(typed, [...new Set(next)]);
}

function flagsOf(command: Command | undefined): string[] {
  return [...(command?.flags ?? []), ...commonFlags].map(({ name }) => `--${name}`);
}

function starting(typed: string, all: readonly string[]): string[] {
  return all.filter((each) => each.startsWith(typed));
}
