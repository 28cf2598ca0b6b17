/** Parses what is worth it of the files that were read, before any detector runs. */
import type { Progress } from '../progress.ts';
import { sourceFactsOf } from './javascript/facts.ts';
import type { SourceFacts } from './source-facts.ts';
import { parseYaml } from './yaml.ts';

export type ParseOutcome = { readonly value: unknown } | { readonly failed: string };

export interface ParsedAhead {
  readonly sources: ReadonlyMap<string, SourceFacts>;
  readonly yaml: ReadonlyMap<string, ParseOutcome>;
}

/**
 * The parser of JavaScript is native, goes down into nested code by calling itself, and ends the process where the stack
 * ends. A level of nesting takes at least one character of text and up to about 2.5 kB of stack: `process/watch.ts` gives
 * as much as a file of this length can take.
 */
const mostParsedBytes = 128 * 1024;
/** Of all files together. They come from the root downwards, so what is left out lies deepest. */
const mostBytes = 4 * 1024 * 1024;
/** YAML further down is not for us but for clusters and tests. */
const deepestYaml = 3;

const endings = ['.js', '.mjs', '.cjs', '.jsx', '.ts', '.mts', '.cts', '.tsx', '.vue', '.svelte', '.astro'];
/** A file without any of these tells nothing that is asked for, and is not worth the parse. */
const telling =
  `process.env import.meta.env env( env. Env. $env/ astro:env .listen serve( Deno. Bun. createEnv cleanEnv setGlobalPrefix
  Controller( health /ping /up' /up" Sequelize( DataSource( forRoot createPool mongoose Redis( Worker( Queue( jsr: npm:
  deno.land`
    .split(/\s+/)
    .map((text) => Buffer.from(text));

export function parseAhead(contents: ReadonlyMap<string, Buffer>, progress: Progress): ParsedAhead {
  const sources = new Map<string, SourceFacts>();
  const yaml = new Map<string, ParseOutcome>();
  let bytes = 0;
  for (const [path, content] of contents) {
    const kind = content.length > mostParsedBytes ? undefined : kindOf(path, content);
    if (kind === undefined) continue;
    bytes += content.length;
    if (progress.isOver || bytes > mostBytes) break;
    progress.note(path);
    const text = content.toString('utf8');
    if (kind === 'yaml')
      yaml.set(
        path,
        outcomeOf(() => parseYaml(text)),
      );
    else {
      const outcome = outcomeOf(() => sourceFactsOf(path, text));
      // A source that cannot be parsed says nothing; tools have files of many dialects.
      if ('value' in outcome) sources.set(path, outcome.value);
    }
  }
  return { sources, yaml };
}

function outcomeOf<T>(parse: () => T): { readonly value: T } | { readonly failed: string } {
  try {
    return { value: parse() };
  } catch (error) {
    return { failed: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) };
  }
}

function kindOf(path: string, content: Buffer): 'source' | 'yaml' | undefined {
  if (/\.ya?ml$/.test(path)) {
    const isOurs = path.split('/').length <= deepestYaml && !/(?:^|\/)pnpm-lock\.yaml$/.test(path);
    return isOurs ? 'yaml' : undefined;
  }
  if (/(?:^|\/)package\.json5$/.test(path)) return 'source';
  if (!endings.some((ending) => path.endsWith(ending))) {
    const isProgram = content[0] === 0x23 && content.subarray(0, 40).includes('env node');
    return isProgram ? 'source' : undefined;
  }
  const isConfig = /(?:config|\.eleventy|knexfile|keystone)\.[cm]?[jt]s$/.test(path);
  return isConfig || telling.some((text) => content.includes(text)) ? 'source' : undefined;
}
