/** Classes of pydantic-settings: each field is a variable of its name in capitals. Line by line, by indentation. */
import type { Read } from './reads-in-code.ts';

const head = /^(\s{0,40})class\s+\w{1,100}\s{0,5}\(([^)]{0,200})\)\s{0,5}:/;
const field = /^(\s{1,40})(\w{1,100})\s{0,5}:\s{0,5}([^=#]{1,200}?)\s{0,5}(?:=\s{0,5}(.{1,300}))?$/;

export function settingsReads(text: string): readonly Read[] {
  if (!/BaseSettings/.test(text.slice(0, 256 * 1024))) return [];
  const lines = text.slice(0, 256 * 1024).split('\n', 6_000);
  const reads: Read[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const found = head.exec((lines[at] ?? '').slice(0, 400));
    if (!found || !/Settings\b/.test(found[2] ?? '')) continue;
    const body = bodyOf(lines, at + 1, (found[1] ?? '').length);
    const prefix =
      /env_prefix["']?\s{0,5}[=:]\s{0,5}["']([\w-]{0,60})["']/.exec(
        body
          .map(({ line }) => line)
          .join('\n')
          .slice(0, 20_000),
      )?.[1] ?? '';
    for (const { line, number } of body) {
      const read = fieldRead(line, prefix, number);
      if (read) reads.push(read);
    }
  }
  return reads;
}

/** Only the class's own level: what is deeper belongs to a method or to `class Config`. */
function bodyOf(lines: readonly string[], from: number, outer: number) {
  const body: { line: string; number: number }[] = [];
  let indent: number | undefined;
  let isText = false;
  for (let at = from; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').slice(0, 600);
    const quotes = line.split('"""').length - 1;
    if (quotes % 2 === 1) isText = !isText;
    if (isText || quotes > 0 || line.trim() === '' || line.trim().startsWith('#')) continue;
    const depth = line.length - line.trimStart().length;
    if (depth <= outer) break;
    indent ??= depth;
    if (depth === indent || /env_prefix/.test(line)) body.push({ line, number: at + 1 });
  }
  return body;
}

function fieldRead(line: string, prefix: string, number: number): Read | undefined {
  const found = field.exec(line.replace(/\s#.*$/, '').trimEnd());
  const [, , name = '', type = '', value] = found ?? [];
  if (
    !found ||
    name === 'model_config' ||
    name.startsWith('_') ||
    /^(?:def|class|async|return|if|for|else)$/.test(name) ||
    /ClassVar/.test(type)
  )
    return undefined;
  const alias = /(?:env|alias|validation_alias)\s{0,5}=\s{0,5}["'](\w{1,100})["']/.exec(value ?? '')?.[1];
  const key = (alias ?? `${prefix}${name}`).toUpperCase();
  if (value === undefined) return { key, line: number, required: true };
  const inner = /^Field\(\s{0,5}(.*)$/.exec(value);
  if (inner) {
    const first = inner[1] ?? '';
    const said =
      /(?:^|[\s(,])default\s{0,5}=\s{0,5}(.+)$/.exec(first)?.[1] ??
      (/^(?:\.\.\.|\w+\s{0,5}=|\))/.test(first) || first === '' ? undefined : first);
    if (/default_factory/.test(first)) return { key, line: number, required: false };
    return said === undefined || said.startsWith('...')
      ? { key, line: number, required: true }
      : withDefault(key, said, number);
  }
  return value.trim() === '...' ? { key, line: number, required: true } : withDefault(key, value, number);
}

function withDefault(key: string, value: string, line: number): Read {
  const literal = /^(?:["']([^"']{0,300})["']|(\d{1,20}(?:\.\d{1,10})?|True|False)(?![\w*]))/.exec(
    value.trim(),
  );
  const text = literal?.[1] ?? literal?.[2]?.toLowerCase();
  return { key, line, required: false, ...(text === undefined ? {} : { default: text }) };
}
