/**
 * Files in which somebody wrote down how the app is to be built and run. Owns what each of them means, and who is
 * believed before whom. It refuses to run or look up anything they name.
 *
 * The order, from the strongest:
 * - Files of a hosting platform (render.yaml, fly.toml, …) were written to run this app in production, and are used.
 * - Files for a builder (nixpacks.toml, railpack.json, …) are laid under them: a platform's start command replaces the
 *   builder's.
 * - A Procfile is the custom of many platforms, so any one's own file goes before it.
 * - Compose files and Dockerfiles say what happens inside an image, often for development; they fill in what is
 *   customary or not known, and do not replace what the project itself says outright (its `start` script). Compose
 *   names the Dockerfile to use, so it goes before.
 */
import type { Declaration, DeclarationReader } from '../detector.ts';
import type { Repository } from '../repository.ts';
import { sqliteReader } from '../services/sqlite.ts';
import { scans } from '../variables/code-finder.ts';
import { builderReader } from './builders.ts';
import { cloudReader } from './clouds.ts';
import { composeReader } from './compose.ts';
import { digitalOceanReader } from './digitalocean.ts';
import { dockerfileReader } from './dockerfiles.ts';
import { flyReader } from './fly.ts';
import { herokuReader } from './heroku.ts';
import { kamalReader } from './kamal.ts';
import { netlifyReader } from './netlify.ts';
import { procfileReader } from './procfile.ts';
import { railwayReader } from './railway.ts';
import { renderReader } from './render.ts';
import { staticHostReader } from './static-hosts.ts';
import { nothingHeard } from './strengths.ts';
import { vercelReader } from './vercel.ts';

const readers: readonly DeclarationReader[] = [
  cloudReader,
  staticHostReader,
  kamalReader,
  digitalOceanReader,
  netlifyReader,
  vercelReader,
  herokuReader,
  railwayReader,
  flyReader,
  renderReader,
  builderReader,
  procfileReader,
  composeReader,
  dockerfileReader,
  sqliteReader,
];

/**
 * One after those that only go through the sources ahead, because only who has heard all can tell where they disagree.
 */
export const declarationReaders: readonly DeclarationReader[] = [
  ...scans.map((scan, part) => ({
    name: `sources ${part + 1}`,
    read(repository: Repository) {
      scan(repository);
      return {};
    },
  })),
  {
    name: 'declarations',
    read(repository) {
      const all = nothingHeard();
      for (const reader of readers) {
        const { declarations = [], services = [], variables = [] } = reader.read(repository);
        all.declarations.push(...declarations.filter(({ draft }) => Object.keys(draft).length > 0));
        all.services.push(...services);
        all.variables.push(...variables);
      }
      warnOfDisagreement(repository, all.declarations);
      return all;
    },
  },
];

const compared = ['startCommand', 'buildCommand', 'port', 'healthPath', 'releaseCommand'] as const;

/** Of what is meant for production on both sides; that a Dockerfile says something else is the rule, not a mistake. */
function warnOfDisagreement(repository: Repository, declarations: readonly Declaration[]): void {
  const strong = declarations.filter(({ strength }) => strength >= 1);
  for (const group of Map.groupBy(strong, ({ directory }) => directory).values()) {
    // Of two that are equally strong, the one that was read last is used.
    const ordered = group.toReversed().toSorted((one, other) => other.strength - one.strength);
    for (const field of compared) {
      const said = ordered.flatMap(({ draft }) => draft[field] ?? []);
      const [first] = said;
      const other = said.find(({ value }) => value !== first?.value);
      if (!first || !other || first.source.file === other.source.file) continue;
      const message = `${first.source.file} and ${other.source.file} disagree: ${first.source.note}, ${other.source.note}. The first is used.`;
      repository.warn('files_disagree', message, other.source.file);
    }
  }
}
