/**
 * Lets stack traces name the lines of the source, not those of the bundle. A map is read when a trace needs it, and only
 * what was looked for is kept: Node's own switch reads all maps as the code is loaded, which doubles the time of a start,
 * and its `SourceMap` would hold 50 MB for a map of 2 MB.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(import.meta.url);
/** Where in the source a place of the bundle is. An error that comes again is not looked for again. */
const known = new Map();
const mostKnown = 5_000;

Error.prepareStackTrace = (error, frames) => {
  look(frames.filter((frame) => isOurs(frame) && !known.has(placeOf(frame))));
  return [Error.prototype.toString.call(error), ...frames.map((frame) => `    at ${placed(frame)}`)].join(
    '\n',
  );
};

function placed(frame) {
  const text = String(frame);
  const place = isOurs(frame) ? placeOf(frame) : '';
  return text.replace(place, () => known.get(place) ?? place);
}

function isOurs(frame) {
  return frame.getFileName()?.startsWith(here) ?? false;
}

function placeOf(frame) {
  return `${frame.getFileName()}:${frame.getLineNumber()}:${frame.getColumnNumber()}`;
}

/** One pass over the map of each file. */
function look(frames) {
  if (known.size + frames.length > mostKnown) known.clear();
  for (const [url, wanted] of Map.groupBy(frames, (frame) => frame.getFileName())) {
    const file = fileURLToPath(url);
    const map = readMap(`${file}.map`);
    const sorted = wanted.sort(
      (a, b) => a.getLineNumber() - b.getLineNumber() || a.getColumnNumber() - b.getColumnNumber(),
    );
    let next = 0;
    const settle = (upTo, found) => {
      for (; next < sorted.length && isBefore(sorted[next], upTo); next += 1) {
        const isThere = found.line === sorted[next].getLineNumber() - 1 && map.sources[found.source];
        const place = placeOf(sorted[next]);
        if (!isThere) known.set(place, place);
        else {
          const source = resolve(dirname(file), map.sources[found.source]);
          known.set(place, `${source}:${found.sourceLine + 1}:${found.sourceColumn + 1}`);
        }
      }
      return next < sorted.length;
    };
    follow(map.mappings, settle);
  }
}

function isBefore(frame, { line, column }) {
  const [own, ownColumn] = [frame.getLineNumber() - 1, frame.getColumnNumber() - 1];
  return own < line || (own === line && ownColumn < column);
}

const digits = new Map(
  [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].map((each, at) => [
    each.charCodeAt(0),
    at,
  ]),
);
const [comma, semicolon] = [44, 59];

/** `settle` is told of each beginning of a piece, with the piece before it, until it wants no more. */
function follow(mappings, settle) {
  let before = { line: -1, column: 0, source: 0, sourceLine: 0, sourceColumn: 0 };
  let [line, column] = [0, 0];
  for (let at = 0; at < mappings.length; ) {
    const code = mappings.charCodeAt(at);
    if (code === comma || code === semicolon) {
      if (code === semicolon) [line, column] = [line + 1, 0];
      at += 1;
      continue;
    }
    const fields = [0, 0, 0, 0];
    for (let field = 0; digits.has(mappings.charCodeAt(at)); field += 1) {
      let [value, shift, digit] = [0, 0, 32];
      for (; digit >= 32; shift += 5, at += 1) {
        digit = digits.get(mappings.charCodeAt(at)) ?? 0;
        value += (digit & 31) << shift;
      }
      fields[field] = value & 1 ? -(value >>> 1) : value >>> 1;
    }
    column += fields[0];
    if (!settle({ line, column }, before)) return;
    before = {
      line,
      column,
      source: before.source + fields[1],
      sourceLine: before.sourceLine + fields[2],
      sourceColumn: before.sourceColumn + fields[3],
    };
  }
  settle({ line: Number.POSITIVE_INFINITY, column: 0 }, before);
}

/** A trace without its source is better than none, and this is no place to throw. */
function readMap(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { mappings: '', sources: [] };
  }
}
