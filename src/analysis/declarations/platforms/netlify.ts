/** netlify.toml and `_redirects`. */
import { asObjects, asText, objectAt } from '../../readers/shape.ts';
import { join, type Parsed, parentOf, type Repository } from '../../repository.ts';
import type { PlatformReader } from '../declaration-file.ts';
import { hasManifest } from '../places.ts';
import { toolOfVariable, versionsIn } from '../platform-variables.ts';
import { servedOutput } from './server-rendering.ts';

export const netlify: PlatformReader = {
  names: ['netlify.toml'],
  read(file) {
    const { config } = file;
    const production = objectAt(config, 'context', 'production');
    const build: Parsed = { ...objectAt(config, 'build'), ...production };
    const environment = {
      ...objectAt(config, 'build', 'environment'),
      ...objectAt(production, 'environment'),
    };
    const directory = file.folder(asText(build.base));
    if (directory === undefined) return;
    const under = directory.slice(file.directory === '' ? 0 : file.directory.length + 1);
    const hasFallback = asObjects(config.redirects).some(({ from, to, status }) =>
      isFallback(asText(from) ?? '', asText(to) ?? '', asText(status) ?? '301'),
    );
    file.declare({
      directory,
      build: build.command,
      output: servedOutput(file, build.publish, { directory, under }),
      isSinglePage: hasFallback ? true : undefined,
      versions: versionsIn(environment),
    });
    const isForBuilder = /^(?:NPM|YARN|CI|NETLIFY|SECRETS_SCAN|NEXT_USE|AWS_LAMBDA)/;
    file.variables(
      environment,
      { directory, build: true },
      (key) => toolOfVariable(key) === undefined && !isForBuilder.test(key),
    );
  },
};

export const redirects: PlatformReader = {
  names: ['_redirects'],
  read(file) {
    const lines = file.text.slice(0, 64 * 1024).split('\n');
    if (!lines.some(isFallbackLine)) return;
    const directory = ownerOf(file.repository, file.directory);
    const has = (name: string) => file.repository.has(join(directory, name));
    const isPlain = has('index.html') && !has('package.json');
    file.declare({ directory, isSinglePage: true, output: isPlain ? '.' : undefined });
  },
};

function isFallback(from: string, to: string, status: string): boolean {
  return from === '/*' && /^\/?(?:index\.html)?$/.test(to) && status === '200';
}

function isFallbackLine(line: string): boolean {
  const [from = '', to = '', status = ''] = line.trim().slice(0, 500).split(/\s+/);
  return isFallback(from, to, status.replace('!', ''));
}

/** `public/_redirects` is copied by the build; it speaks of the project above. */
function ownerOf(repository: Repository, folder: string): string {
  const above = parentOf(folder) ?? '';
  const isCopied = /(?:^|\/)(?:public|static|src|assets|content|source)$/.test(folder);
  return isCopied && hasManifest(repository, above) ? above : folder;
}
