/** Hosts of static sites: Firebase, Cloudflare, Azure, Heroku's static.json, Staticfile, Amplify. */
import type { DeclarationReader } from '../detector.ts';
import { asEntries, asMany, asObject, asObjects, asText, asTexts } from '../readers/shape.ts';
import type { Parsed, Repository } from '../repository.ts';
import { declare, folderIn, type Saying } from './declare.ts';
import { filesNamed, folderOfFile } from './places.ts';
import { isServedAsFiles } from './server-rendering.ts';
import { nothingHeard, strengths } from './strengths.ts';

type Told = Pick<Saying, 'output' | 'isSinglePage' | 'build' | 'install'>;

const files: readonly (readonly [string, (config: Parsed) => Told | undefined])[] = [
  ['firebase.json', readFirebase],
  ['wrangler.toml', readWrangler],
  ['wrangler.json', readWrangler],
  ['wrangler.jsonc', readWrangler],
  ['staticwebapp.config.json', (config) => (config.navigationFallback ? { isSinglePage: true } : undefined)],
  ['static.json', readStaticJson],
  ['amplify.yml', readAmplify],
];

export const staticHostReader: DeclarationReader = {
  name: 'static-hosts',
  read(repository) {
    const heard = nothingHeard();
    for (const [name, read] of files) {
      for (const file of filesNamed(repository, [name])) {
        const config = parse(repository, file);
        const told = config && read(config);
        if (!told) continue;
        const directory = folderOfFile(file);
        const output = folderIn(told.output);
        const isFiles = output !== undefined && isServedAsFiles(repository, directory, output);
        const { output: _, ...rest } = told;
        heard.declarations.push(
          declare(repository, {
            ...rest,
            ...(isFiles ? { output } : {}),
            file,
            directory,
            strength: strengths.platform,
          }),
        );
      }
    }
    for (const file of filesNamed(repository, ['Staticfile'])) {
      const root = /^\s{0,20}root\s{0,20}:\s{0,20}(\S{1,200})/m.exec(
        (repository.text(file) ?? '').slice(0, 4_000),
      )?.[1];
      heard.declarations.push(
        declare(repository, {
          file,
          directory: folderOfFile(file),
          strength: strengths.platform,
          output: root ?? '.',
          isSinglePage: /^\s{0,20}pushstate\s{0,20}:\s{0,20}enabled/m.test(
            (repository.text(file) ?? '').slice(0, 4_000),
          ),
        }),
      );
    }
    return heard;
  },
};

function parse(repository: Repository, file: string): Parsed | undefined {
  if (file.endsWith('.toml')) return repository.toml(file);
  return file.endsWith('.yml') ? repository.yaml(file) : repository.json(file);
}

function readFirebase(config: Parsed): Told | undefined {
  const hosting = asObject(asMany(config.hosting)[0]);
  if (asText(hosting.public) === undefined) return undefined;
  const isSinglePage = asObjects(hosting.rewrites).some(
    ({ source, destination }) =>
      /^(?:\*\*|\/\*\*)$/.test(asText(source) ?? '') && /index\.html$/.test(asText(destination) ?? ''),
  );
  return { output: hosting.public, isSinglePage: isSinglePage || undefined };
}

function readWrangler(config: Parsed): Told | undefined {
  const assets = asObject(config.assets);
  const build = asObject(config.build).command;
  const isSite = config.main === undefined || config.pages_build_output_dir !== undefined;
  if (!isSite) return undefined;
  const output = config.pages_build_output_dir ?? assets.directory;
  const fallback = asText(assets.not_found_handling);
  return {
    output,
    build,
    ...(fallback === undefined ? {} : { isSinglePage: fallback === 'single-page-application' }),
  };
}

function readStaticJson(config: Parsed): Told | undefined {
  if (config.root === undefined && config.routes === undefined) return undefined;
  const isSinglePage = asEntries(config.routes).some(
    ([from, to]) => from === '/**' && /index\.html$/.test(asText(to) ?? ''),
  );
  return { output: config.root ?? 'public_html', isSinglePage };
}

function readAmplify(config: Parsed): Told | undefined {
  const frontend = asObject(config.frontend);
  const phases = asObject(frontend.phases);
  const lines = asTexts(asObject(phases.build).commands);
  return {
    output: asObject(frontend.artifacts).baseDirectory,
    build: lines.length === 0 ? undefined : lines.join(' && '),
  };
}
