/** The lines that a tool tells beside its output: ours are taken apart, the last of the others are kept as evidence. */
import { StringDecoder } from 'node:string_decoder';
import type { Figures } from './engine.ts';

const keptLines = 20;
const longestLine = 500;
const longestRest = 16 * 1024;
const longestEvidence = 4_000;

export class ToolWords {
  /** What `dd` counted. */
  rawBytes: number | undefined;
  readonly #figures = new Map<string, number | string>();
  readonly #warnings: string[] = [];
  readonly #last: string[] = [];
  readonly #decoder = new StringDecoder('utf8');
  #firstError: string | undefined;
  #rest = '';

  push(bytes: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(bytes)).split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, longestRest);
    for (const each of lines) this.take(each);
  }

  end(): void {
    const rest = this.#rest + this.#decoder.end();
    this.#rest = '';
    if (rest !== '') this.take(rest);
  }

  /** One line, whole. */
  take(line: string): void {
    const [, word = '', rest = ''] = /^@(figure|warning) (.*)$/.exec(line) ?? [];
    if (word === 'figure') this.#takeFigure(rest);
    if (word === 'warning') this.#warnings.push(rest);
    if (word !== '') return;
    const counted = /^(\d+) bytes? .*copied, /.exec(line)?.[1];
    if (counted !== undefined) this.rawBytes = Number(counted);
    if (counted !== undefined || /^\d+\+\d+ records (in|out)$/.test(line)) return;
    const kept = line.length > longestLine ? `${line.slice(0, longestLine)} …` : line;
    // A statement of a thousand lines may follow what is wrong with it.
    if (/\b(ERROR|FATAL|error:)/.test(line)) this.#firstError ??= kept;
    this.#last.push(kept);
    if (this.#last.length > keptLines) this.#last.shift();
  }

  get figures(): Figures {
    const sorted = [...this.#figures].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted);
  }

  get warning(): string | null {
    return this.#warnings.length === 0 ? null : this.#warnings.join(' ');
  }

  get evidence(): string {
    const last = this.#last.join('\n').slice(-longestEvidence);
    return this.#firstError === undefined || last.includes(this.#firstError)
      ? last
      : `${this.#firstError}\n…\n${last}`;
  }

  #takeFigure(text: string): void {
    const pair: unknown = JSON.parse(text);
    if (!Array.isArray(pair)) return;
    const [key, value]: unknown[] = pair;
    if (typeof key !== 'string') return;
    if (typeof value === 'number' || typeof value === 'string') this.#figures.set(key, value);
  }
}
