/** Parses what detectors may ask for and the main thread must not parse, before any of them runs. */
import type { Pace } from '../pace.ts';
import { mostParsedBytes, type ParseOutcome, ParseThread } from './parse-thread.ts';
import { isSourceFacts, type SourceFacts } from './source-facts.ts';

export interface ParsedAhead {
  readonly sources: ReadonlyMap<string, SourceFacts>;
  readonly yaml: ReadonlyMap<string, ParseOutcome>;
}

/** So many files are with the thread at a time; a cancelled analysis leaves no more behind. */
const atOnce = 64;
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

const thread = new ParseThread();

export async function parseAhead(contents: ReadonlyMap<string, Buffer>, pace: Pace): Promise<ParsedAhead> {
  const sources = new Map<string, SourceFacts>();
  const yaml = new Map<string, ParseOutcome>();
  const underWay = new Set<Promise<void>>();
  let bytes = 0;
  for (const [path, content] of contents) {
    await pace.yield();
    const kind = content.length > mostParsedBytes ? undefined : kindOf(path, content);
    if (kind === undefined) continue;
    bytes += content.length;
    if (pace.isOver || bytes > mostBytes) break;
    if (underWay.size >= atOnce) await Promise.race(underWay);
    const work = thread.parse(kind, path, content.toString('utf8')).then((outcome) => {
      if (kind === 'yaml') yaml.set(path, outcome);
      else if ('value' in outcome && isSourceFacts(outcome.value)) sources.set(path, outcome.value);
      underWay.delete(work);
    });
    underWay.add(work);
  }
  await Promise.all(underWay);
  return { sources, yaml };
}

function kindOf(path: string, content: Buffer): 'source' | 'yaml' | undefined {
  if (/\.ya?ml$/.test(path)) {
    const isOurs = path.split('/').length <= deepestYaml && !/(?:^|\/)pnpm-lock\.yaml$/.test(path);
    return isOurs ? 'yaml' : undefined;
  }
  if (!endings.some((ending) => path.endsWith(ending))) {
    const isProgram = content[0] === 0x23 && content.subarray(0, 40).includes('env node');
    return isProgram ? 'source' : undefined;
  }
  const isConfig = /(?:config|\.eleventy|knexfile|keystone)\.[cm]?[jt]s$/.test(path);
  return isConfig || telling.some((text) => content.includes(text)) ? 'source' : undefined;
}
