/** Log lines for a person at a terminal: the time, what happened, and whatever else is known of it. For programs there is JSON. */
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

const styles: Readonly<Record<string, Style>> = { warn: 'yellow', error: 'red', fatal: 'red' };

interface Line {
  readonly level?: unknown;
  readonly time?: unknown;
  readonly msg?: unknown;
  readonly err?: unknown;
  readonly [key: string]: unknown;
}

/** A request is one short sentence; of everything else all fields are shown. */
export function readableLine(json: string): string {
  const { level, time, msg, err, ...rest }: Line = JSON.parse(json);
  const at = styleText('dim', new Date(String(time)).toTimeString().slice(0, 8));
  const word = String(level);
  const style = styles[word];
  const label = style ? `${styleText(style, word)} ` : '';
  const what = msg === 'request' ? requestOf(rest) : `${msg}${fieldsOf(rest)}`;
  const { stack, message } = Object(err);
  const trace = err === undefined ? '' : `\n${String(stack ?? message ?? err)}`;
  return `${at} ${label}${what}${trace}\n`;
}

function requestOf({ method, route, status, ms, code }: Readonly<Record<string, unknown>>): string {
  const style = Number(status) >= 500 ? 'red' : Number(status) >= 400 ? 'yellow' : 'green';
  const why = code === undefined ? '' : ` ${code}`;
  return `${method} ${route ?? 'unknown path'} ${styleText(style, String(status))}${why} ${ms} ms`;
}

function fieldsOf(rest: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(rest)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return fields.length === 0 ? '' : ` ${styleText('dim', fields.join(' '))}`;
}
