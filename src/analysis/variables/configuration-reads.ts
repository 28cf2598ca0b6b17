/** Reads in configuration that is no code: Spring, HOCON, Symfony, ERB in YAML, Prisma, shell scripts. By the line. */
import { isConstantKey } from './names.ts';
import { type Read, readsIn } from './reads-in-code.ts';
import { interpolations } from './special-reads.ts';
import { tokensOf } from './tokens.ts';

const mostLines = 3_000;
const longestLine = 1_000;
const ruby = { line: ['#'], quotes: '"\'' };

type LineReader = (line: string, number: number) => readonly Read[];

/** By path; the first that fits. `undefined`: such a file is not looked at. */
export function configurationReader(path: string): LineReader | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^(?:application|bootstrap)[\w-]{0,40}\.(?:properties|ya?ml)$/.test(name)) return interpolations;
  if (name.endsWith('.conf') && /(?:^|\/)(?:resources|conf|config)\//.test(path)) return interpolations;
  if (name.endsWith('.prisma')) return prisma;
  if (/(?:^|\/)config\/[\w./-]{1,200}\.ya?ml$/.test(path)) return yaml;
  if (/^(?:(?:docker-?)?entrypoint|start|run|boot|launch|serve)\.sh$/.test(name)) return shell;
  return undefined;
}

export function linesRead(text: string, reader: LineReader): readonly Read[] {
  const lines = text.slice(0, 256 * 1024).split('\n', mostLines);
  return lines.flatMap((line, at) => {
    const plain = line.slice(0, longestLine);
    return /^\s{0,80}(?:#|\/\/|!)/.test(plain) ? [] : reader(plain, at + 1);
  });
}

function prisma(line: string, number: number): readonly Read[] {
  const key = /\benv\(\s{0,5}"([A-Za-z_]\w{0,120})"\s{0,5}\)/.exec(line)?.[1];
  if (key === undefined) return [];
  return [{ key, line: number, required: !/shadowDatabaseUrl/.test(line) }];
}

/** `<%= ENV.fetch("X") { 5 } %>` of Rails, `%env(int:X)%` of Symfony. */
function yaml(line: string, number: number): readonly Read[] {
  const reads: Read[] = [];
  for (const [, code = ''] of line.matchAll(/<%=?([^%]{1,300})%>/g))
    reads.push(...readsIn(tokensOf(code, ruby)).map((read) => ({ ...read, line: number })));
  for (const [, key = ''] of line.matchAll(/%env\((?:[\w:]{0,60}:)?([A-Z][A-Z0-9_]{1,100})\)%/g))
    reads.push({ key, line: number });
  return reads;
}

/** Only where the script says what happens without: `${X:?}` stops, `${X:-x}` goes on. */
function shell(line: string, number: number): readonly Read[] {
  const reads: Read[] = [];
  for (const [, key = '', mark = '', rest = ''] of line.matchAll(
    /\$\{([A-Z][A-Z0-9_]{1,100}):?([?=-])([^}]{0,200})\}/g,
  )) {
    if (!isConstantKey(key)) continue;
    if (mark === '?') reads.push({ key, line: number, required: true });
    else
      reads.push({
        key,
        line: number,
        required: false,
        ...(rest === '' || rest.includes('$') ? {} : { default: rest.replace(/^["']|["']$/g, '') }),
      });
  }
  return reads;
}
