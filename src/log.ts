/** Structured log lines, one JSON object each, on standard output. */
import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';

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
  return destination ? pino(options, destination) : pino(options, pino.destination({ fd: 1, sync: true }));
}
