/** Whole lines of one container, without its secrets. Docker cuts long lines into pieces; a secret may lie across two. */
import { StringDecoder } from 'node:string_decoder';
import { createRedactor } from '../../remote/exec/redact.ts';
import type { Secret } from '../../secret.ts';
import type { LogPiece } from './log-frames.ts';

export interface LogLine {
  readonly stream: LogPiece['stream'];
  readonly at: string;
  readonly line: string;
}

/** Longer lines are told in pieces: a program that never ends its line must not fill our memory. */
const longestLine = 16 * 1024;

export class LogLines {
  readonly #streams: Record<LogPiece['stream'], StreamLines>;

  constructor(secrets: readonly Secret<string | Buffer>[]) {
    this.#streams = {
      stdout: new StreamLines('stdout', secrets),
      stderr: new StreamLines('stderr', secrets),
    };
  }

  push(piece: LogPiece): LogLine[] {
    return this.#streams[piece.stream].push(piece);
  }

  /** What is left where nothing more will come. */
  end(): LogLine[] {
    return [...this.#streams.stdout.end(), ...this.#streams.stderr.end()];
  }
}

class StreamLines {
  readonly #stream: LogPiece['stream'];
  readonly #redactor: ReturnType<typeof createRedactor>;
  #decoder = new StringDecoder('utf8');
  #rest = '';
  #at = '';

  constructor(stream: LogPiece['stream'], secrets: readonly Secret<string | Buffer>[]) {
    this.#stream = stream;
    this.#redactor = createRedactor(secrets);
  }

  push({ at, bytes }: LogPiece): LogLine[] {
    if (this.#rest === '') this.#at = at;
    const lines = (this.#rest + this.#decoder.write(this.#redactor.push(bytes))).split('\n');
    this.#rest = lines.pop() ?? '';
    const told = lines.map((line, index) => this.#line(line, index === 0 ? this.#at : at));
    if (lines.length > 0) this.#at = at;
    while (this.#rest.length > longestLine) {
      told.push(this.#line(this.#rest.slice(0, longestLine), this.#at));
      this.#rest = this.#rest.slice(longestLine);
    }
    return told;
  }

  end(): LogLine[] {
    const rest = this.#rest + this.#decoder.write(this.#redactor.end()) + this.#decoder.end();
    this.#decoder = new StringDecoder('utf8');
    this.#rest = '';
    return rest === ''
      ? []
      : rest
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => this.#line(line, this.#at));
  }

  #line(line: string, at: string): LogLine {
    return { stream: this.#stream, at, line: line.endsWith('\r') ? line.slice(0, -1) : line };
  }
}
