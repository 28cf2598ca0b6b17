/**
 * Small trees with what the analysis has to say of them. One file each: a sentence after `#`, the expected part of the
 * result as JSON, then the files, each after a line `-- path --`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Fixture {
  readonly name: string;
  readonly about: string;
  readonly expected: Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, string>>;
}

const folder = fileURLToPath(new URL('./fixtures/', import.meta.url));

export function readFixtures(): Fixture[] {
  return all().filter(({ name }) => !name.startsWith('hard/'));
}

/** What they are, no file says outright; a person would have to ask. The analysis may be wrong, and not sure of it. */
export function readHardFixtures(): Fixture[] {
  return all().filter(({ name }) => name.startsWith('hard/'));
}

function all(): Fixture[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.tree'),
  );
  return names.sort().map((name) => parseFixture(name, readFileSync(join(folder, name), 'utf8')));
}

function parseFixture(name: string, text: string): Fixture {
  const parts = text.split(/^-- (.+) --\n/m);
  const [head = '', ...rest] = parts;
  const lines = head.split('\n');
  const about = lines[0]?.replace(/^# /, '') ?? '';
  const files: Record<string, string> = {};
  for (let at = 0; at < rest.length; at += 2) files[rest[at] ?? ''] = rest[at + 1] ?? '';
  return { name: name.replace(/\.tree$/, ''), about, expected: JSON.parse(lines.slice(1).join('\n')), files };
}

/** Where the result differs from what is expected; what is not mentioned may be anything. */
export function differences(expected: unknown, actual: unknown, at = ''): string[] {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [`${at}: expected a list, got ${JSON.stringify(actual)}`];
    const most = Math.max(expected.length, actual.length);
    return Array.from({ length: most }, (_, index) => {
      const place = `${at}[${index}]`;
      if (index >= expected.length) return [`${place}: not expected: ${JSON.stringify(actual[index])}`];
      return differences(expected[index], actual[index], place);
    }).flat();
  }
  if (typeof expected === 'object' && expected !== null) {
    const found: Record<string, unknown> = Object(actual);
    return Object.entries(expected).flatMap(([key, value]) =>
      differences(value, found[key], at === '' ? key : `${at}.${key}`),
    );
  }
  if (Object.is(expected, actual)) return [];
  return [`${at}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`];
}
