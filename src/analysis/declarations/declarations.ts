/**
 * Files in which somebody wrote down how the app is to be built and run. Owns what each of them means, and who is
 * believed before whom. It refuses to run or look up anything they name.
 *
 * The order, from the strongest:
 * - Files of a hosting platform (render.yaml, fly.toml, …) were written to run this app in production, and are used.
 * - Files for a builder (nixpacks.toml, railpack.json, …) are laid under them: a platform's start command replaces the
 *   builder's.
 * - A Procfile is a convention of many platforms, so any one's own file goes before it.
 * - Compose files and Dockerfiles say what happens inside an image, often for development; they fill in what is
 *   conventional or not known, and do not replace what the project itself says outright (its `start` script). Compose
 *   names the Dockerfile to use, so it goes before.
 */
import type { Declaration, DeclarationReader } from '../detector.ts';
import type { Warning } from '../result.ts';
import { readSqliteVariables } from '../services/sqlite.ts';
import { readComposeFiles } from './compose.ts';
import { type DeclarationFindings, type PlatformReader, readFiles } from './declaration-file.ts';
import { readDockerfiles } from './dockerfiles.ts';
import { builders } from './platforms/builders.ts';
import { appEngine, appRunner, cloudFoundry } from './platforms/clouds.ts';
import { digitalOcean } from './platforms/digitalocean.ts';
import { fly } from './platforms/fly.ts';
import { herokuApp, herokuManifest } from './platforms/heroku.ts';
import { capRover, kamal } from './platforms/kamal.ts';
import { netlify, redirects } from './platforms/netlify.ts';
import { procfile } from './platforms/procfile.ts';
import { railway } from './platforms/railway.ts';
import { render } from './platforms/render.ts';
import { staticfile, staticHosts } from './platforms/static-hosts.ts';
import { vercel } from './platforms/vercel.ts';

/** Of two of the same precedence the later one is used. */
const platforms: readonly PlatformReader[] = [
  appEngine,
  cloudFoundry,
  appRunner,
  ...staticHosts,
  staticfile,
  kamal,
  capRover,
  digitalOcean,
  netlify,
  redirects,
  vercel,
  herokuApp,
  herokuManifest,
  railway,
  fly,
  render,
  ...builders,
  procfile,
];

export const declarationReaders: readonly DeclarationReader[] = [
  {
    name: 'declarations',
    read(repository) {
      const found: DeclarationFindings = { declarations: [], services: [], variables: [], warnings: [] };
      for (const platform of platforms) readFiles(repository, platform, found);
      readComposeFiles(repository, found);
      readDockerfiles(repository, found);
      readSqliteVariables(repository, found);
      const declarations = found.declarations.filter(({ draft }) => Object.keys(draft).length > 0);
      return { ...found, declarations, warnings: [...found.warnings, ...disagreements(declarations)] };
    },
  },
];

const compared = ['startCommand', 'buildCommand', 'port', 'healthPath', 'releaseCommand'] as const;

/** Of what is meant for production on both sides; that a Dockerfile says something else is the rule, not a mistake. */
function disagreements(declarations: readonly Declaration[]): readonly Warning[] {
  const found: Warning[] = [];
  const strong = declarations.filter(({ precedence }) => precedence >= 1);
  for (const group of Map.groupBy(strong, ({ directory }) => directory).values()) {
    // Of two of the same precedence, the one that was read last is used.
    const ordered = group.toReversed().toSorted((one, other) => other.precedence - one.precedence);
    for (const field of compared) {
      const said = ordered.flatMap(({ draft }) => draft[field] ?? []);
      const [first] = said;
      const other = said.find(({ value }) => value !== first?.value);
      if (!first || !other || first.source.file === other.source.file) continue;
      const message = `${first.source.file} and ${other.source.file} disagree: ${first.source.note}, ${other.source.note}. The first is used.`;
      found.push({ code: 'files_disagree', message, file: other.source.file });
    }
  }
  return found;
}
