/** Work that goes on in Slipway, watched from here: its steps and its log, until its end, and Ctrl-C on the way. */
import type { Fault } from '../sdk/index.ts';
import type { ExitCode } from './command.ts';
import { plain, type Terminal } from './terminal.ts';

/** What deployments and operations tell alike. */
type WorkEvent =
  | {
      readonly kind: 'status' | 'end';
      readonly status: string;
      readonly step?: string | null;
      readonly fault?: Fault;
    }
  | { readonly kind: 'log'; readonly step: string; readonly line: string }
  | {
      readonly kind: 'progress';
      readonly step: string;
      readonly fraction: number;
      readonly text: string | null;
    }
  | { readonly kind: 'reset' };

export interface Work {
  readonly what: string;
  readonly events: (signal: AbortSignal) => AsyncIterable<WorkEvent>;
  readonly cancel: () => Promise<unknown>;
  /** How one comes back to it. */
  readonly later: string;
}

export interface Ending {
  readonly exitCode: ExitCode;
  readonly status: string;
  readonly fault: Fault | undefined;
}

const keptLines = 20;
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

export async function attend(terminal: Terminal, work: Work, showsAll: boolean): Promise<Ending> {
  const view = terminal.isWatched ? new LiveView(terminal, showsAll) : new LineView(terminal);
  const leaving = new AbortController();
  let isAsking = false;
  const interrupted = () => {
    if (!terminal.canAsk) return leaving.abort();
    if (isAsking) return;
    isAsking = true;
    view.pause();
    askWhat(terminal, work)
      .then((answer) => answer === 'detach' && leaving.abort())
      .catch(() => leaving.abort())
      .finally(() => {
        isAsking = false;
        view.resume();
      });
  };
  process.on('SIGINT', interrupted);
  let ending: Ending = { exitCode: 'detached', status: 'running', fault: undefined };
  try {
    for await (const event of work.events(leaving.signal)) {
      view.take(event);
      if (event.kind === 'end')
        ending = { exitCode: exitCodeOf(event.status), status: event.status, fault: event.fault };
    }
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  } finally {
    process.off('SIGINT', interrupted);
    view.end(ending);
  }
  if (ending.exitCode === 'detached') terminal.note(`${work.what} goes on. ${work.later}`);
  return ending;
}

async function askWhat(terminal: Terminal, work: Work): Promise<'cancel' | 'detach' | 'watch'> {
  terminal.note('');
  const answer = await terminal.choose(`${work.what} is under way.`, [
    ['go on watching', 'watch'],
    ['cancel it', 'cancel'],
    ['leave it alone, and end here', 'detach'],
  ] as const);
  if (answer === 'cancel') {
    await work.cancel();
    terminal.note('It is being cancelled: what it did is undone.');
  }
  return answer;
}

function exitCodeOf(status: string): ExitCode {
  if (status === 'succeeded') return 'done';
  return status === 'failed' ? 'failed' : 'cancelled';
}

interface View {
  take(event: WorkEvent): void;
  pause(): void;
  resume(): void;
  end(ending: Ending): void;
}

/** For a log: every line, with the steps between them. */
class LineView implements View {
  readonly #terminal: Terminal;
  #step: string | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  take(event: WorkEvent): void {
    if ('step' in event && event.step && event.step !== this.#step) {
      this.#step = event.step;
      this.#terminal.say(`> ${event.step}`);
    }
    if (event.kind === 'log') this.#terminal.say(`  ${plain(event.line)}`);
  }

  pause(): void {}
  resume(): void {}

  end({ fault, status }: Ending): void {
    if (status === 'running') return;
    for (const line of faultLines(this.#terminal, fault)) this.#terminal.say(line);
  }
}

/** For a person: a line for each step that is done, one that moves for the step under way. */
class LiveView implements View {
  readonly #terminal: Terminal;
  readonly #showsAll: boolean;
  readonly #timer: NodeJS.Timeout;
  #step: string | undefined;
  #begun = Date.now();
  #tail: string[] = [];
  #detail = '';
  #frame = 0;
  #isPaused = false;

  constructor(terminal: Terminal, showsAll: boolean) {
    this.#terminal = terminal;
    this.#showsAll = showsAll;
    this.#timer = setInterval(() => this.#draw(), 120);
  }

  take(event: WorkEvent): void {
    if ('step' in event && event.step && event.step !== this.#step) this.#next(event.step);
    if (event.kind === 'log') this.#log(plain(event.line));
    if (event.kind === 'progress') this.#detail = event.text ?? `${Math.round(event.fraction * 100)} %`;
    if (event.kind === 'status' && !event.step) this.#detail = event.status;
  }

  pause(): void {
    this.#clear();
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
  }

  end(ending: Ending): void {
    clearInterval(this.#timer);
    this.#clear();
    const { fault, status } = ending;
    const isBad = status === 'failed' || status === 'cancelled';
    if (this.#step !== undefined && status !== 'running')
      this.#terminal.say(this.#stepLine(isBad ? this.#terminal.red('✗') : this.#terminal.green('✓')));
    if (status === 'failed' && !fault?.evidence && !this.#showsAll)
      for (const line of this.#tail) this.#terminal.say(this.#terminal.dim(`  ${line}`));
    for (const line of faultLines(this.#terminal, fault)) this.#terminal.say(line);
  }

  #next(step: string): void {
    this.#clear();
    if (this.#step !== undefined) this.#terminal.say(this.#stepLine(this.#terminal.green('✓')));
    this.#step = step;
    this.#begun = Date.now();
    this.#detail = '';
    this.#tail = [];
  }

  #log(line: string): void {
    if (line.trim() === '') return;
    this.#detail = line;
    this.#tail = [...this.#tail.slice(1 - keptLines), line];
    if (!this.#showsAll || this.#isPaused) return;
    this.#clear();
    this.#terminal.say(this.#terminal.dim(`  ${line}`));
  }

  #stepLine(mark: string): string {
    const seconds = ((Date.now() - this.#begun) / 1_000).toFixed(1);
    return `${mark} ${(this.#step ?? '').padEnd(16)} ${this.#terminal.dim(`${seconds} s`)}`;
  }

  #draw(): void {
    if (this.#isPaused) return;
    this.#frame = (this.#frame + 1) % frames.length;
    const columns = process.stdout.columns || 80;
    const name = (this.#step ?? 'waiting').padEnd(16);
    const room = Math.max(0, columns - 22);
    process.stdout.write(
      `\r\x1b[K${frames[this.#frame]} ${name} ${this.#terminal.dim(this.#detail.slice(0, room))}`,
    );
  }

  #clear(): void {
    process.stdout.write('\r\x1b[K');
  }
}

export function faultLines(terminal: Terminal, fault: Fault | null | undefined): string[] {
  if (!fault) return [];
  return [
    ...(fault.evidence
      ? plain(fault.evidence)
          .trimEnd()
          .split('\n')
          .map((line) => terminal.dim(`  ${line}`))
      : []),
    `${terminal.red(fault.step ? `Failed at ${fault.step}:` : 'Failed:')} ${plain(fault.message)}`,
    ...(fault.hint ? [plain(fault.hint)] : []),
  ];
}
