/** Hosts of static sites: Firebase, Cloudflare, Azure, Heroku's static.json, Amplify, Staticfile. */
import { asEntries, asMany, asObjects, asText, objectAt, stringAt, valueAt } from '../../readers/shape.ts';
import type { Parsed } from '../../repository.ts';
import { joinedCommands } from '../commands.ts';
import type { Declared, PlatformReader } from '../declaration-file.ts';
import { servedOutput } from './server-rendering.ts';

type Site = Pick<Declared, 'output' | 'isSinglePage' | 'build'>;

const sites: readonly (readonly [string, (config: Parsed) => Site | undefined])[] = [
  ['firebase.json', readFirebase],
  ['wrangler.toml', readWrangler],
  ['wrangler.json', readWrangler],
  ['wrangler.jsonc', readWrangler],
  ['staticwebapp.config.json', (config) => (config.navigationFallback ? { isSinglePage: true } : undefined)],
  ['static.json', readStaticJson],
  ['amplify.yml', readAmplify],
];

export const staticHosts: readonly PlatformReader[] = sites.map(([name, readSite]) => ({
  names: [name],
  read(file) {
    const site = readSite(file.config);
    if (site) file.declare({ ...site, output: servedOutput(file, site.output) });
  },
}));

export const staticfile: PlatformReader = {
  names: ['Staticfile'],
  read(file) {
    const text = file.text.slice(0, 4_000);
    // Without a root it says that files are served, and not which: a framework that builds knows, else `pages.ts`.
    file.declare({
      output: /^\s{0,20}root\s{0,20}:\s{0,20}(\S{1,200})/m.exec(text)?.[1],
      isSinglePage: /^\s{0,20}pushstate\s{0,20}:\s{0,20}enabled/m.test(text) || undefined,
    });
  },
};

function readFirebase(config: Parsed): Site | undefined {
  const [hosting] = asMany(config.hosting);
  const output = stringAt(hosting, 'public');
  if (asText(output) === undefined) return undefined;
  const isSinglePage = asObjects(valueAt(hosting, 'rewrites')).some(
    ({ source, destination }) =>
      /^(?:\*\*|\/\*\*)$/.test(asText(source) ?? '') && /index\.html$/.test(asText(destination) ?? ''),
  );
  return { output, isSinglePage: isSinglePage || undefined };
}

function readWrangler(config: Parsed): Site | undefined {
  const isSite = config.main === undefined || config.pages_build_output_dir !== undefined;
  if (!isSite) return undefined;
  const assets = objectAt(config, 'assets');
  const fallback = asText(assets.not_found_handling);
  return {
    output: config.pages_build_output_dir ?? assets.directory,
    build: valueAt(config, 'build', 'command'),
    isSinglePage: fallback === undefined ? undefined : fallback === 'single-page-application',
  };
}

function readStaticJson(config: Parsed): Site | undefined {
  if (config.root === undefined && config.routes === undefined) return undefined;
  const isSinglePage = asEntries(config.routes).some(
    ([from, to]) => from === '/**' && /index\.html$/.test(asText(to) ?? ''),
  );
  return { output: config.root, isSinglePage: isSinglePage || undefined };
}

function readAmplify(config: Parsed): Site {
  return {
    output: valueAt(config, 'frontend', 'artifacts', 'baseDirectory'),
    build: joinedCommands(valueAt(config, 'frontend', 'phases', 'build', 'commands')),
  };
}
