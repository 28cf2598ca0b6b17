/**
 * A route that is there for health checks. A wrong one makes every deployment fail, while without one the port alone
 * is asked; so a route counts only where no prefix is put before it.
 */

import { type Evidenced, evidencedBy } from '../evidence.ts';
import type { Hit, Repository } from '../repository.ts';

const names = String.raw`(?:health(?:z|[-_]?checks?)?|healthz?\/(?:live|ready|liveness|readiness)|livez|readyz|_health|up|ping|heartbeat|alive)`;
const route = new RegExp(
  String.raw`(?:([$\w]{1,60})\s{0,10}(?:\.|->)\s{0,10})?\b(?:get|head|route|path|re_path|handle|map|url|any|match|at|endpoint|resource|getmapping|requestmapping)\w{0,40}\b["']?[^"'\x60]{0,40}["'\x60](?:GET )?(\/?(?:api\/)?(?:v\d\/)?${names}(\/?))["'\x60]`,
  'i',
);
const prefix =
  /\b(?:scope|namespace|group|prefix|requestmapping|path|route|controller|resources?|mount|map|nest|blueprint)\b[^"'`]{0,60}["'`]\/?\w/i;

export function healthInCode(
  repository: Repository,
  files: readonly string[],
): Evidenced<string> | undefined {
  for (const hit of repository.findAll(files, route, 10)) {
    const { text, match } = hit;
    if (/^\s*(?:#|\/\/|\*|--|;)/.test(text) || isClient(text)) continue;
    if (isGroup(repository, hit) || isInside(repository, hit)) continue;
    const path = match[2] ?? '';
    return evidencedBy(hit, path.startsWith('/') ? path : `/${path}`);
  }
  return undefined;
}

/** A request to somewhere else. */
function isClient(text: string): boolean {
  return /\b(?:requests|httpx|axios|fetch|http\.Get|client|curl|session|test_?client|reqwest)\b/i.test(text);
}

/** Whether what the route is added to was itself made with a prefix, as in `api := r.Group("/api")`. */
function isGroup(repository: Repository, { file, match }: Hit): boolean {
  const name = match[1]?.replaceAll('$', '\\$');
  if (name === undefined) return false;
  const made = new RegExp(
    String.raw`(?:^|[^\w$])${name}\s*(?::=|=)\s*.{0,80}?(?:group|blueprint|apirouter|prefix|scope|namespace|subrouter|maproute|mapgroup|\brouter\()`,
    'i',
  );
  return repository.find(file, made) !== undefined;
}

/** Whether a line around it, further to the left, puts a path before it. */
function isInside(repository: Repository, { file, line }: Hit): boolean {
  const lines = repository.lines(file);
  let least = indentOf(lines[line - 1] ?? '');
  for (let at = line - 2; at >= 0 && at >= line - 200; at -= 1) {
    const text = lines[at] ?? '';
    if (text.trim() === '') continue;
    const indent = indentOf(text);
    // An annotation of the class stands above it, as far to the left.
    const isAbove =
      indent < least ||
      (indent === least && indent < indentOf(lines[line - 1] ?? '') && /^\s*[@[]/.test(text));
    if (isAbove && prefix.test(text)) return true;
    least = Math.min(least, indent);
  }
  return false;
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}
