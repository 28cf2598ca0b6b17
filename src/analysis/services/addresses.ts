/** Addresses of services that stand in code and configuration: `redis://…`, `jdbc:postgresql://…`. */
import { parentOf, type Repository } from '../repository.ts';
import { isAnalysed } from '../variables/analysed-folders.ts';
import { schemeOf } from '../variables/values.ts';
import type { DatabaseFinding } from './configuration.ts';

const marks = ['postgres', 'mysql', 'mariadb', 'mongodb', 'redis'].map((text) => Buffer.from(text));
const colon = Buffer.from('://');
const address =
  /["'`=\s:{([](?:jdbc:|r2dbc:)?((?:postgres(?:ql)?|postgis|mysql2?|mariadb|mongodb|rediss?)(?:\+\w{1,20})?:\/\/[^\s"'`]{1,200})/;
const looked =
  /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|scala|php|cs|fs|exs?|clj|hs|cr|dart|swift|gleam|properties|ya?ml|conf|json|toml|ini)$/;
/** Compose and platform files are read by those who understand them; in lock files and pipelines nothing is ours. */
const notHere =
  /(?:^|\/)(?:[\w.-]{0,60}compose[\w.-]{0,60}\.ya?ml|package(?:-lock)?\.json|composer\.json|\.gitlab-ci\.yml|[\w.-]{0,40}lock[\w.-]{0,20}\.(?:json|ya?ml)|[\w.-]{0,40}\.lock|render\.yaml|app\.json)$|(?:^|\/)(?:scripts?|docs?|migrations?|seeds?|\.github)\//;

export function addressesIn(repository: Repository): readonly DatabaseFinding[] {
  const found: DatabaseFinding[] = [];
  for (const path of repository.filesUnder('', [''])) {
    const directory = parentOf(path) ?? '';
    // The cheapest question first: nearly every file of a large repository ends here.
    const bytes = looked.test(path) ? repository.bytes(path) : undefined;
    if (!bytes || bytes.length > 256 * 1024 || !bytes.includes(colon)) continue;
    if (!marks.some((mark) => bytes.includes(mark))) continue;
    if (notHere.test(repository.folders.within(path)) || !isAnalysed(repository, directory)) continue;
    const seen = new Set<string>();
    for (const [at, line] of (repository.text(path) ?? '').split('\n', 4_000).entries()) {
      const match = line.includes('://') ? address.exec(line.slice(0, 600)) : null;
      const kind = match?.[1] === undefined ? undefined : schemeOf(match[1]);
      if (kind === undefined || /^\s*(?:#|\/\/|\*|--|;)/.test(line)) continue;
      if (seen.has(kind)) continue;
      seen.add(kind);
      found.push({ kind, directory, source: { file: path, line: at + 1, note: `an address of ${kind}` } });
    }
  }
  return found;
}
