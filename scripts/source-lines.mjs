/**
 * Lets stack traces name the lines of the source, not those of the bundle. A map is read when the first trace needs it:
 * Node's own switch reads all of them as the code is loaded, which doubles the time of a start.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(import.meta.url);
const maps = new Map();

Error.prepareStackTrace = (error, frames) =>
  [Error.prototype.toString.call(error), ...frames.map((frame) => `    at ${placed(frame)}`)].join('\n');

function placed(frame) {
  const text = String(frame);
  const url = frame.getFileName();
  if (!url?.startsWith(here)) return text;
  const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()];
  const found = mapOf(url)?.findEntry(line - 1, column - 1);
  if (found?.originalSource === undefined) return text;
  const source = resolve(dirname(fileURLToPath(url)), found.originalSource);
  return text.replace(
    `${url}:${line}:${column}`,
    `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`,
  );
}

function mapOf(url) {
  if (!maps.has(url)) maps.set(url, readMap(`${fileURLToPath(url)}.map`));
  return maps.get(url);
}

/** A trace without its source is better than none, and this is no place to throw. */
function readMap(file) {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}
