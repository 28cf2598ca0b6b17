/** Commands as platform files write them: taken apart just far enough to see what they are for. Nothing is run. */
import { asMany, asTexts } from '../readers/shape.ts';

/** Longer commands are kept as they are; taking them apart is not worth its cost. */
const longestTaken = 2_000;

const installers: readonly RegExp[] = [
  /^(?:npm|pnpm|bun) (?:ci|i|install|clean-install)(?: |$)/,
  /^yarn(?: install)?(?: --?\S+)*$/,
  /^deno install(?: |$)/,
  /^corepack (?:enable|prepare|use)(?: |$)/,
  /^(?:python3? -m )?pip3? install(?: |$)/,
  /^(?:poetry|pdm|pipenv|rye) (?:install|sync|lock)(?: |$)/,
  /^poetry config(?: |$)/,
  /^uv (?:sync|pip install|venv)(?: |$)/,
  /^bundle (?:install|config)(?: |$)/,
  /^bundle$/,
  /^gem install(?: |$)/,
  /^go (?:mod (?:download|tidy)|get)(?: |$)/,
  /^composer (?:install|update)(?: |$)/,
  /^mix (?:deps\.get|local\.\S+)(?: |$)/,
  /^dotnet restore(?: |$)/,
  /^cargo fetch(?: |$)/,
];

/** An argument list or a line; `sh -c "…"` is what is in it. */
export function commandOf(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const words = asTexts(value);
    const [shell = '', flag = '', line] = words;
    if (/^(?:\/bin\/|\/usr\/bin\/)?(?:ba|da|a|z)?sh$/.test(shell) && /^-[lec]*c$/.test(flag) && line)
      return line.trim();
    return words.length === 0 ? undefined : words.map(quoted).join(' ');
  }
  if (typeof value !== 'string') return undefined;
  const line = value.trim();
  // `# no build command` is how templates of Netlify say nothing.
  return line === '' || line.startsWith('#') || line.length > longestTaken * 2 ? undefined : line;
}

/** Several lines in a list are run one after the other. */
export function joinedCommands(value: unknown): string | undefined {
  const lines = asMany(value).flatMap((line) => commandOf(line) ?? []);
  return lines.length === 0 ? undefined : lines.join(' && ');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./$\-{}[\]*]+$/.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`;
}

/** Split where one command ends and the next begins (`&&`, `;`, a new line), outside quotes. */
export function segmentsOf(command: string): readonly string[] {
  if (command.length > longestTaken) return [command];
  const parts: string[] = [];
  let quote = '';
  let from = 0;
  const cut = (at: number, width: number): void => {
    const part = command.slice(from, at).trim();
    if (part !== '') parts.push(part);
    from = at + width;
  };
  for (let at = 0; at < command.length; at += 1) {
    const mark = command[at] ?? '';
    if (mark === '\\') at += 1;
    else if (quote !== '') quote = mark === quote ? '' : quote;
    else if (mark === '"' || mark === "'") quote = mark;
    else if (mark === '&' && command[at + 1] === '&') {
      cut(at, 2);
      at += 1;
    } else if (mark === ';' || mark === '\n') cut(at, 1);
  }
  cut(command.length, 0);
  return parts;
}

/** Where a platform has one command for both, what installs is split from what builds. */
export function splitInstall(command: string): { install: string | null; build: string | null } {
  const parts = segmentsOf(command);
  const first = parts.findIndex((part) => !installers.some((installer) => installer.test(part)));
  if (first === 0) return { install: null, build: command };
  const installing = first === -1 ? parts : parts.slice(0, first);
  const rest = first === -1 ? [] : parts.slice(first);
  return { install: installing.join(' && '), build: rest.length === 0 ? null : rest.join(' && ') };
}

/** `cd web && npm start` is `npm start` in `web`; a command that goes elsewhere later stays as it is. */
export function takenFolder(command: string): { folder: string; rest: string } | undefined {
  const [first = '', ...rest] = segmentsOf(command);
  const folder = /^cd (?:\.\/)?["']?([\w@][\w@./-]{0,200}?)\/?["']?$/.exec(first)?.[1];
  if (folder === undefined || folder.includes('..') || rest.length === 0) return undefined;
  if (rest.some((part) => /^(?:cd|pushd) /.test(part))) return undefined;
  return { folder, rest: rest.join(' && ') };
}

const portPatterns: readonly RegExp[] = [
  /(?:^|[\s"'])PORT=(\d{2,5})(?=\s)/,
  /\$\{PORT:-(\d{2,5})\}/,
  /(?:^|\s)--(?:http-|server\.|server-)?port[= ](\d{2,5})(?=\s|$|["'])/,
  /(?:^|\s)-[pP][ =]?(\d{2,5})(?=\s|$|["'])/,
  /(?:^|\s)(?:--bind|-b|--listen|-l|--address|--addr|--http)[= ]\S{0,80}?:(\d{2,5})(?=\s|$|["'])/,
  /(?:^|\s)(?:--listen|-l)[= ](\d{2,5})(?=\s|$|["'])/,
  /-Dserver\.port=(\d{2,5})(?=\s|$)/,
  /(?:^|\s)runserver \S{0,40}?:?(\d{2,5})(?=\s|$)/,
  /(?:^|\s)php -S \S{1,60}:(\d{2,5})(?=\s|$)/,
  /(?:^|\s)http\.server (\d{2,5})(?=\s|$)/,
];

/** The port that a command says outright. */
export function portIn(command: string): number | undefined {
  if (command.length > longestTaken) return undefined;
  for (const pattern of portPatterns) {
    const port = Number(pattern.exec(command)?.[1] ?? Number.NaN);
    if (port > 0 && port < 65_536) return port;
  }
  return undefined;
}

/** Commands with which a developer works and nobody serves. */
export function isForDevelopment(command: string): boolean {
  return /\b(?:nodemon|tsx watch|ts-node-dev|run dev|yarn dev|pnpm dev|bun dev|next dev|nuxt dev|ng serve|runserver|air|reflex|start:dev|--reload|--watch|--debug|flask run|rails s|rails server|bin\/dev|sleep|tail -f)\b/.test(
    command.slice(0, longestTaken),
  );
}
