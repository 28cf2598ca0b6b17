/** The terminal: what goes out, how it looks where a person watches, and what a person is asked. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CliError } from './command.ts';
import { visible, wrapped } from './wrapped.ts';

/** Where less than this is left for the last column, the cells of a row go below each other. */
const leastLast = 12;

export class Terminal {
  readonly isJson: boolean;
  /** Whether somebody watches what is written, and answers. */
  readonly isWatched: boolean;
  readonly canAsk: boolean;
  readonly #hasColour: boolean;

  constructor(isJson: boolean) {
    this.isJson = isJson;
    this.isWatched = process.stdout.isTTY === true && !isJson;
    this.canAsk = process.stdin.isTTY === true && process.stderr.isTTY === true;
    this.#hasColour = this.isWatched && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  }

  /** Of the window; where there is none, what a page of text has. */
  get width(): number {
    return process.stdout.columns || 80;
  }

  /** For people; not in JSON. */
  say(line = ''): void {
    if (!this.isJson) process.stdout.write(`${line}\n`);
  }

  /** Beside the result, so that a pipe does not get it. */
  note(line: string): void {
    process.stderr.write(`${line}\n`);
  }

  /** The same for sentences: in a terminal a word is not broken at the edge. */
  tell(text: string): void {
    const width = process.stderr.isTTY ? process.stderr.columns || 80 : Number.POSITIVE_INFINITY;
    // What is indented is there to be copied.
    for (const line of text.split('\n'))
      for (const part of line.startsWith('  ') ? [line] : wrapped(line, width)) this.note(part);
  }

  /** The result: a value for programs, or lines for people. */
  show(value: unknown, lines: () => readonly string[]): void {
    if (this.isJson) process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    else for (const line of lines()) process.stdout.write(`${line}\n`);
  }

  /** One of many values that come one after the other. */
  showNext(value: unknown, line: () => string): void {
    process.stdout.write(`${this.isJson ? JSON.stringify(value) : line()}\n`);
  }

  /** Where there is nothing, a sentence says so. */
  table(rows: readonly (readonly string[])[], head: readonly string[], none: string): string[] {
    if (rows.length === 0) return [none];
    const all = [head, ...rows];
    const widths = head.map((_, at) => Math.max(...all.map((row) => visible(row[at]).length)));
    const last = head.length - 1;
    // What is left for the last column, which is text; what stands before it is copied, and stays whole.
    const room = this.width - widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
    const needed = Math.min(widths[last] ?? 0, leastLast);
    if (this.isWatched && room < needed) return rows.flatMap((row) => this.#stacked(row, head));
    return all.map((row, at) => {
      const line = row
        .map((cell, column) => {
          if (column < last) return cell + ' '.repeat((widths[column] ?? 0) - visible(cell).length);
          const isCut = this.isWatched && visible(cell).length > room;
          return isCut ? `${visible(cell).slice(0, room - 1)}…` : cell;
        })
        .join('  ')
        .trimEnd();
      return at === 0 ? this.dim(line) : line;
    });
  }

  #stacked([name = '', ...cells]: readonly string[], head: readonly string[]): string[] {
    const column = Math.max(...head.slice(1).map(({ length }) => length));
    return [
      this.bold(name),
      ...cells.flatMap((cell, at) => {
        const title = this.dim((head[at + 1] ?? '').padEnd(column));
        return visible(cell) === '' ? [] : [`  ${title}  ${cell}`];
      }),
    ];
  }

  bold = (text: string) => this.#styled(1, text);
  dim = (text: string) => this.#styled(2, text);
  red = (text: string) => this.#styled(31, text);
  green = (text: string) => this.#styled(32, text);
  yellow = (text: string) => this.#styled(33, text);

  /** A status in the colour that fits it. */
  status(status: string): string {
    if (/^(running|ready|succeeded|verified|connected|active|live)$/.test(status)) return this.green(status);
    if (/^(failed|degraded|unreachable|host_key_changed|rejected)$/.test(status)) return this.red(status);
    return this.yellow(status);
  }

  async ask(question: string, preset?: string): Promise<string> {
    const shown = preset === undefined ? question : `${question} ${this.dim(`(${preset})`)}`;
    return (await this.#readLine(`${shown}: `, false)) || (preset ?? '');
  }

  /** What is typed is not shown. */
  askSecret(question: string): Promise<string> {
    return this.#readLine(`${question}: `, true);
  }

  async confirm(question: string): Promise<boolean> {
    return /^y(es)?$/i.test(await this.#readLine(`${question} [y/N] `, false));
  }

  async choose<T>(question: string, choices: readonly (readonly [label: string, value: T])[]): Promise<T> {
    for (const [at, [label]] of choices.entries()) this.note(`  ${this.bold(String(at + 1))}  ${label}`);
    for (;;) {
      const answer = await this.#readLine(`${question} [1-${choices.length}] `, false);
      const chosen = choices[Number(answer) - 1];
      if (chosen) return chosen[1];
    }
  }

  #readLine(prompt: string, isHidden: boolean): Promise<string> {
    if (!this.canAsk)
      throw new CliError(
        `«${prompt.replace(/[: ]+$/, '')}» cannot be asked: there is no terminal.`,
        'Say it with a flag; `--help` lists them.',
        'usage',
      );
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    const reader = createInterface({
      input: process.stdin,
      output: isHidden ? silent : process.stderr,
      terminal: true,
    });
    if (isHidden) process.stderr.write(prompt);
    return new Promise((resolve, reject) => {
      reader.once('SIGINT', () => reject(new CliError('Nothing was done.', undefined, 'cancelled')));
      reader.once('close', () => reject(new CliError('Nothing was done.', undefined, 'cancelled')));
      reader.question(isHidden ? '' : prompt, (answer) => resolve(answer.trim()));
    }).then(
      (answer) => {
        if (isHidden) process.stderr.write('\n');
        reader.close();
        return String(answer);
      },
      (error: unknown) => {
        process.stderr.write('\n');
        reader.close();
        throw error;
      },
    );
  }

  #styled(code: number, text: string): string {
    return this.#hasColour ? `\x1b[${code}m${text}\x1b[0m` : text;
  }
}

/** What a server or a build printed, without what would steer the terminal. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replaceAll(/\x1b\[[\d;?]*[A-Za-z]|\x1b\][^\x07]*\x07|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '');
}

/** As one word of a line that is to be copied into a shell. */
export function shellWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export async function readStdin(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  return text;
}
