/**
 * What a tool prints beside its dump: lines of ours are taken apart, the last of the others are kept as evidence, without
 * secrets. In lines of ours there is nothing to take out, and a number there may look like a secret.
 */
import { StringDecoder } from 'node:string_decoder';
import { createRedactor } from '../../../remote/exec/redact.ts';
import type { Secret } from '../../../secret.ts';
import type { ContentStats } from './engine.ts';

const maxLines = 20;
const maxLineLength = 500;
const maxRestLength = 16 * 1024;
const maxEvidenceLength = 4_000;
const maxWarnings = 20;

export class ToolOutput {
  /** What `dd` counted. */
  rawBytes: number | undefined;
  readonly #contentStats = new Map<string, number | string>();
  readonly #warnings: string[] = [];
  readonly #last: string[] = [];
  readonly #decoder = new StringDecoder('utf8');
  readonly #redactor: ReturnType<typeof createRedactor>;
  #firstError: string | undefined;
  #rest = '';

  constructor(secrets: readonly Secret<string | Buffer>[]) {
    this.#redactor = createRedactor(secrets);
  }

  push(bytes: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(bytes)).split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, maxRestLength);
    for (const each of lines) this.take(each);
  }

  end(): void {
    const rest = this.#rest + this.#decoder.end();
    this.#rest = '';
    if (rest !== '') this.take(rest);
  }

  /** One line, whole. */
  take(whole: string): void {
    const stat = /^@stat (.*)$/.exec(whole)?.[1];
    if (stat !== undefined) {
      this.#takeStat(stat);
      return;
    }
    const counted = /^(\d+) bytes? .*copied, /.exec(whole)?.[1];
    if (counted !== undefined) this.rawBytes = Number(counted);
    if (counted !== undefined || /^\d+\+\d+ records (in|out)$/.test(whole)) return;
    // Before anything is cut off: half a secret would not be found any more.
    const line = `${this.#redactor.push(Buffer.from(whole))}${this.#redactor.end()}`;
    const [, word = '', rest = ''] = /^@(warning) (.*)$/.exec(line) ?? [];
    // A name in the database may look like a line of ours.
    if (word === 'warning' && this.#warnings.length < maxWarnings)
      this.#warnings.push(rest.slice(0, maxLineLength));
    if (word !== '') return;
    const kept = line.length > maxLineLength ? `${line.slice(0, maxLineLength)} …` : line;
    // A statement of a thousand lines may follow what is wrong with it.
    if (/\b(ERROR|FATAL|error:)/.test(line)) this.#firstError ??= kept;
    this.#last.push(kept);
    if (this.#last.length > maxLines) this.#last.shift();
  }

  get contentStats(): ContentStats {
    const sorted = [...this.#contentStats].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted);
  }

  get warning(): string | null {
    return this.#warnings.length === 0 ? null : this.#warnings.join(' ');
  }

  get evidence(): string {
    const last = this.#last.join('\n').slice(-maxEvidenceLength);
    return this.#firstError === undefined || last.includes(this.#firstError)
      ? last
      : `${this.#firstError}\n…\n${last}`;
  }

  #takeStat(text: string): void {
    const pair: unknown = JSON.parse(text);
    if (!Array.isArray(pair)) return;
    const [key, value]: unknown[] = pair;
    if (typeof key !== 'string') return;
    if (typeof value === 'number' || typeof value === 'string') this.#contentStats.set(key, value);
  }
}
