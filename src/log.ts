/** Structured log lines on standard output: one JSON object each, or readable lines where a person sits at a terminal. */
import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';
import { readableLine } from './readable-log.ts';

/** Readable lines; while `isQuiet` says so, only what somebody has to know. */
export function atTerminal(isQuiet: () => boolean = () => false): { write(line: string): void } {
  return {
    write: (line) => {
      if (!isQuiet() || !/"level":"(trace|debug|info)"/.test(line)) process.stdout.write(readableLine(line));
    },
  };
}

/** What must never be readable in a log, wherever an object carries it. */
const secrets = [
  'password',
  'token',
  'accessToken',
  'refreshToken',
  'ticket',
  'code',
  'authorization',
  'cookie',
];

export function createLog(level: Config['logLevel'], destination?: { write(line: string): void }): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: secrets.flatMap((name) => [name, `*.${name}`]), censor: '[secret]' },
  };
  if (destination) return pino(options, destination);
  if (process.stdout.isTTY) return pino(options, atTerminal());
  return pino(options, pino.destination({ fd: 1, sync: true }));
}
