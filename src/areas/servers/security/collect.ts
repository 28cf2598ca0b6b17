/** Asks a server for everything the checks need: one script, one round trip, and nothing changed there. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { Remote } from '../../../remote/remote.ts';
import { Facts, readSections, Unreadable } from './facts.ts';
import { probeFromOutside } from './port-probes.ts';
import type { SecurityContext } from './rule.ts';

export type RawFacts = Facts;

/** One constant text, kept in files by theme. */
const script = ['frame', 'ssh', 'network', 'packages', 'accounts', 'system', 'docker', 'main']
  .map((name) => readFileSync(new URL(`./questions/${name}.sh`, import.meta.url), 'utf8'))
  .join('\n');
/** The script stops asking after 9 s by itself; the rest is the way there and back. */
const timeoutMs = 30_000;

export async function collectFacts(remote: Remote, ctx: SecurityContext): Promise<RawFacts> {
  const startedAt = performance.now();
  const args = [ctx.username, ctx.ourAddress ?? '', isIP(ctx.host) ? ctx.host : '', String(ctx.port)];
  const packed = await remote.script(script, args, { asRoot: true, timeoutMs });
  const sentMs = ctx.now.getTime();
  const endedMs = sentMs + performance.now() - startedAt;
  const facts = new Facts(readSections(packed), { sentMs, endedMs });
  try {
    return facts.withProbes(await probeFromOutside(facts, ctx));
  } catch (error) {
    // Without the list of ports there is nothing to connect to; the checks that need it then say so.
    if (error instanceof Unreadable) return facts;
    throw error;
  }
}
