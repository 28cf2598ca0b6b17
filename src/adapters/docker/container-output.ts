/** What a container has printed, and how much memory it takes. */
import type { Call, Reply } from './docker.ts';
import { fieldsOf, numberOf } from './json.ts';

export interface LogLine {
  readonly stream: 'stdout' | 'stderr';
  readonly line: string;
  /** As Docker writes it, to the nanosecond. */
  readonly at: string;
}

/** The last so many lines. */
export function containerLogs(name: string, tail: number): Call {
  const query = `stdout=1&stderr=1&timestamps=1&tail=${tail}`;
  return { method: 'GET', path: `/containers/${encodeURIComponent(name)}/logs?${query}`, ok: [200, 404] };
}

const frameHead = 8;

/** Docker packs each piece into a frame: which stream, three zeros, its length. What was cut off at the end is left out. */
export function readLogs(bytes: Buffer): LogLine[] {
  const lines: LogLine[] = [];
  const rest: Record<LogLine['stream'], string> = { stdout: '', stderr: '' };
  for (let at = 0; at + frameHead <= bytes.length; ) {
    const end = at + frameHead + bytes.readUInt32BE(at + 4);
    if (end > bytes.length) break;
    const stream = bytes[at] === 2 ? 'stderr' : 'stdout';
    const pieces = (rest[stream] + bytes.toString('utf8', at + frameHead, end)).split('\n');
    rest[stream] = pieces.pop() ?? '';
    for (const piece of pieces) lines.push({ stream, ...readLogLine(piece) });
    at = end;
  }
  for (const stream of ['stdout', 'stderr'] as const)
    if (rest[stream] !== '') lines.push({ stream, ...readLogLine(rest[stream]) });
  return lines;
}

/** The time stands ahead of the line. */
function readLogLine(text: string): { readonly at: string; readonly line: string } {
  const gap = text.indexOf(' ');
  return gap === -1 ? { at: text, line: '' } : { at: text.slice(0, gap), line: text.slice(gap + 1) };
}

export function statsOf(name: string): Call {
  const path = `/containers/${encodeURIComponent(name)}/stats?stream=false&one-shot=true`;
  return { method: 'GET', path, ok: [200, 404, 409] };
}

/** Without what the kernel would give back at once; undefined where it does not run. */
export function readMemory({ status, body }: Reply): { usedBytes: number; limitBytes: number } | undefined {
  const memory = fieldsOf(body, 'memory_stats');
  if (status !== 200 || typeof memory.usage !== 'number') return undefined;
  const stats = fieldsOf(memory, 'stats');
  const inactive = numberOf(stats.total_inactive_file) || numberOf(stats.inactive_file);
  return { usedBytes: Math.max(0, memory.usage - inactive), limitBytes: numberOf(memory.limit) };
}
