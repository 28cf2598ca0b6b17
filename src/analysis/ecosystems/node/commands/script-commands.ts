/** What a script of package.json runs, as far as that is clear without a shell. */

export interface ScriptCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
}

const longest = 2_000;
const mostCommands = 40;
const deepest = 4;
const wrappers = new Set([
  'cross-env',
  'cross-env-shell',
  'env',
  'npx',
  'bunx',
  'pnpx',
  'exec',
  'time',
  'dotenv',
  'env-cmd',
  'dotenvx',
  'nice',
  'doppler',
  'infisical',
  'varlock',
]);

/** All commands, with those of scripts that it calls in place of the calls. */
export function commandsOf(
  text: string,
  scripts: ReadonlyMap<string, string>,
  depth = 0,
): readonly ScriptCommand[] {
  const found: ScriptCommand[] = [];
  let hasMoved = false;
  for (const part of text.slice(0, longest).split(/&&|\|\||[;|&\n]/)) {
    const command = commandOf(part);
    if (!command) continue;
    // What is called after `cd` is a script of another package.
    if (command.program === 'cd') hasMoved = true;
    const called = depth < deepest && !hasMoved ? calledScripts(command, scripts) : [];
    if (called.length === 0) found.push(command);
    for (const name of called)
      found.push(
        ...commandsOf(scripts.get(name) ?? '', scripts, depth + 1).map((each) => ({
          ...each,
          env: new Map([...command.env, ...each.env]),
        })),
      );
    if (found.length > mostCommands) break;
  }
  return found.slice(0, mostCommands);
}

function commandOf(text: string): ScriptCommand | undefined {
  const words: readonly string[] = text.trim().match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  const env = new Map<string, string>();
  let at = 0;
  for (; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const assigned = /^([A-Za-z_]\w*)=(.*)$/.exec(word);
    if (assigned) env.set(assigned[1] ?? '', unquoted(assigned[2] ?? ''));
    else if (wrappers.has(word)) {
      // Their own options come before the command: `dotenv -e .env -- next start`.
      const end = words.indexOf('--', at);
      if (end !== -1 && word !== 'npx') at = end;
      while ((words[at + 1] ?? '').startsWith('-') && end === -1) at += 1;
    } else if (
      (word === 'pnpm' || word === 'yarn' || word === 'npm') &&
      (words[at + 1] === 'exec' || words[at + 1] === 'dlx')
    )
      at += words[at + 2] === '--' ? 2 : 1;
    else break;
  }
  const program = unquoted(words[at] ?? '');
  if (program === '') return undefined;
  return {
    program: program.replace(/^.*node_modules\/\.bin\//, ''),
    args: words.slice(at + 1).map(unquoted),
    env,
  };
}

function unquoted(word: string): string {
  return word.replace(/^(["'])(.*)\1$/, '$2');
}

function calledScripts(
  { program, args }: ScriptCommand,
  scripts: ReadonlyMap<string, string>,
): readonly string[] {
  const plain = args.filter((arg) => !arg.startsWith('-'));
  if (/^(?:npm-run-all2?|run-s|run-p)$/.test(program)) return plain.filter((name) => scripts.has(name));
  if (program === 'concurrently')
    return args
      .map((arg) => arg.replace(/^(?:npm:|(?:npm|yarn|pnpm|bun) (?:run )?)/, ''))
      .filter((name) => scripts.has(name));
  if (program === 'node' && args[0] === '--run') return scripts.has(args[1] ?? '') ? [args[1] ?? ''] : [];
  if (!['npm', 'yarn', 'pnpm', 'bun'].includes(program)) return [];
  // Another package's script: `npm start --prefix server`, `pnpm --filter web build`.
  if (args.some((arg) => /^(?:--prefix|--filter|-F|--workspace|-w|--cwd|-C|workspace)(?:=|$)/.test(arg)))
    return [];
  const name = plain[0] === 'run' || plain[0] === 'run-script' ? plain[1] : plain[0];
  return name !== undefined && scripts.has(name) ? [name] : [];
}

/** The word behind the program that says what it shall do: `dev` of `next dev -p 3000`. */
export function verbOf({ args }: ScriptCommand): string {
  // What follows an option is most likely its value: `vite --mode ssr`.
  return args.find((arg, at) => !arg.startsWith('-') && !/^--?[a-z][\w-]*$/i.test(args[at - 1] ?? '')) ?? '';
}

/** The value of an option in any of its forms: `-p 3000`, `-p=3000`, `--port=3000`, `-p3000`. */
export function optionOf({ args }: ScriptCommand, ...names: readonly string[]): string | undefined {
  for (const [at, arg] of args.entries()) {
    for (const name of names) {
      if (arg === name) return args[at + 1];
      if (arg.startsWith(`${name}=`)) return arg.slice(name.length + 1);
      if (/^-\w$/.test(name) && arg.startsWith(name) && /^\d+$/.test(arg.slice(2))) return arg.slice(2);
    }
  }
  return undefined;
}
