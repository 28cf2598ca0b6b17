/**
 * Takes secrets out of a stream of output before it is stored or shown: as they are, in base64 wherever they may begin
 * in it, and as they stand in a URL; also where a chunk ends in the middle of one. It buffers only what may be the
 * beginning of one, so that a line is shown when it is printed, and not with the next one.
 */
import type { Secret } from '../../secret.ts';

export interface Redactor {
  /** What may be shown now. */
  push(chunk: Buffer): Buffer;
  /** The rest. */
  end(): Buffer;
}

const replacement = Buffer.from('[secret]');
/** Shorter ones would be found in everything, and hide nothing. */
const minLength = 4;

export function createRedactor(secrets: readonly Secret<string | Buffer>[]): Redactor {
  const needles = needlesOf(secrets);
  const startsAt = beginnings(needles);
  let pending: Buffer = Buffer.alloc(0);
  return {
    push(chunk) {
      if (needles.length === 0) return chunk;
      const text = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const { clean, rest } = redact(text, needles, startsAt(text));
      pending = rest;
      return clean;
    },
    end() {
      const { clean } = redact(pending, needles, pending.length);
      pending = Buffer.alloc(0);
      return clean;
    },
  };
}

/** Of something that has arrived whole. */
export function redactWhole(text: Buffer, secrets: readonly Secret<string | Buffer>[] = []): Buffer {
  const redactor = createRedactor(secrets);
  return Buffer.concat([redactor.push(text), redactor.end()]);
}

/** Finds where the text may end in the middle of a needle: the first byte from which on all of it could be one's beginning. */
function beginnings(needles: readonly Buffer[]): (text: Buffer) => number {
  const longest = needles.reduce((most, { length }) => Math.max(most, length), 1);
  const byFirst = Map.groupBy(needles, ([first = 0]) => first);
  return (text) => {
    for (let at = Math.max(0, text.length - longest + 1); at < text.length; at += 1) {
      const size = text.length - at;
      for (const needle of byFirst.get(text[at] ?? 0) ?? [])
        if (needle.length > size && needle.compare(text, at, text.length, 0, size) === 0) return at;
    }
    return text.length;
  };
}

/**
 * What begins at `settled` or later stays for the next chunk. The leftmost match counts, and of several there the
 * longest: the result does not depend on how the chunks were cut.
 */
function redact(text: Buffer, needles: readonly Buffer[], settled: number): { clean: Buffer; rest: Buffer } {
  const pieces: Buffer[] = [];
  // Where each was found last, so that none is searched for again before that is passed.
  const positions = needles.map((needle) => text.indexOf(needle));
  let from = 0;
  for (;;) {
    let found: { at: number; length: number } | undefined;
    for (const [index, needle] of needles.entries()) {
      let at = positions[index] ?? -1;
      if (at !== -1 && at < from) {
        at = text.indexOf(needle, from);
        positions[index] = at;
      }
      // They are sorted by length: the first of those that begin at the same byte is the longest.
      if (at !== -1 && (!found || at < found.at)) found = { at, length: needle.length };
    }
    if (!found || found.at >= settled) break;
    pieces.push(text.subarray(from, found.at), replacement);
    from = found.at + found.length;
  }
  const rest = Math.max(from, settled);
  if (rest > from) pieces.push(text.subarray(from, rest));
  return { clean: Buffer.concat(pieces), rest: Buffer.from(text.subarray(rest)) };
}

/** Longest first. */
function needlesOf(secrets: readonly Secret<string | Buffer>[]): Buffer[] {
  const all = new Map<string, Buffer>();
  for (const secret of secrets) {
    const value = secret.reveal();
    const bytes = Buffer.from(value);
    if (bytes.length < minLength) continue;
    const written = typeof value === 'string' ? [...writtenForms(value), ...linesOf(value)] : [];
    const forms = [bytes, ...base64Forms(bytes), ...written];
    for (const form of forms) if (form.length >= minLength) all.set(form.toString('latin1'), form);
  }
  return [...all.values()].sort((one, other) => other.length - one.length);
}

/** A key that is printed with an indent, or with other ends of lines, is not found whole. Short lines say little. */
function linesOf(value: string): Buffer[] {
  const lines = value.split('\n').map((line) => line.trim());
  return lines.length < 2 ? [] : lines.filter(({ length }) => length >= 16).map((line) => Buffer.from(line));
}

/** In URLs, in forms, and in JSON. */
function writtenForms(value: string): Buffer[] {
  const url = encodeURIComponent(value.toWellFormed());
  const strict = url.replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const lower = strict.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  const json = JSON.stringify(value).slice(1, -1);
  return [url, strict, lower, strict.replaceAll('%20', '+'), json].map((text) => Buffer.from(text));
}

/**
 * Base64 takes three bytes at a time, so what it makes of the secret depends on how many bytes stand before it. Of each
 * of the three, those characters count that no neighbour has a part in.
 */
function base64Forms(bytes: Buffer): Buffer[] {
  const forms: Buffer[] = [];
  for (const before of [0, 1, 2]) {
    const whole = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const first = before === 0 ? 0 : before + 1;
    const isExact = (before + bytes.length) % 3 === 0;
    const form = whole.slice(first, isExact ? undefined : -1);
    forms.push(Buffer.from(form), Buffer.from(form.replaceAll('+', '-').replaceAll('/', '_')));
  }
  // At the very end of a text nothing follows, and the last character is the secret's own too.
  const alone = bytes.toString('base64').replace(/=+$/, '');
  forms.push(Buffer.from(alone), Buffer.from(bytes.toString('base64url')));
  return forms;
}
