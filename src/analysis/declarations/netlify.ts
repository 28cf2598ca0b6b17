/** netlify.toml and `_redirects`. */
import type { DeclarationReader } from '../detector.ts';
import { asObject, asObjects, asText } from '../readers/shape.ts';
import { join, type Parsed, type Repository } from '../repository.ts';
import { declare, folderIn } from './declare.ts';
import { existingFolder, filesNamed, folderOfFile, hasManifest } from './places.ts';
import { toolOf, variablesIn, versionsIn } from './platform-variables.ts';
import { isServedAsFiles } from './server-rendering.ts';
import { type Heard, nothingHeard, strengths } from './strengths.ts';

export const netlifyReader: DeclarationReader = {
  name: 'netlify',
  read(repository) {
    const heard = nothingHeard();
    for (const file of filesNamed(repository, ['netlify.toml'])) {
      const config = repository.toml(file);
      if (config) readConfig(repository, file, config, heard);
    }
    for (const file of filesNamed(repository, ['_redirects'])) {
      if (
        !(repository.text(file) ?? '')
          .slice(0, 64 * 1024)
          .split('\n')
          .some(isFallbackLine)
      )
        continue;
      const directory = ownerOf(repository, folderOfFile(file));
      const isPlain =
        repository.has(join(directory, 'index.html')) && !repository.has(join(directory, 'package.json'));
      heard.declarations.push(
        declare(repository, {
          file,
          directory,
          strength: strengths.platform,
          isSinglePage: true,
          ...(isPlain ? { output: '.' } : {}),
        }),
      );
    }
    return heard;
  },
};

function readConfig(repository: Repository, file: string, config: Parsed, heard: Heard): void {
  const production = asObject(asObject(config.context).production);
  const build: Parsed = { ...asObject(config.build), ...production };
  const environment = {
    ...asObject(asObject(config.build).environment),
    ...asObject(production.environment),
  };
  const top = folderOfFile(file);
  const directory = existingFolder(repository, top, asText(build.base));
  if (directory === undefined) return;
  const base = directory === top ? '' : directory.slice(top === '' ? 0 : top.length + 1);
  const output = folderIn(build.publish, base);
  const isFiles = output !== undefined && isServedAsFiles(repository, directory, output);
  const hasFallback = asObjects(config.redirects).some(({ from, to, status }) =>
    isFallback(asText(from) ?? '', asText(to) ?? '', asText(status) ?? '301'),
  );
  heard.declarations.push(
    declare(repository, {
      file,
      directory,
      strength: strengths.platform,
      build: build.command,
      ...(isFiles ? { output } : {}),
      isSinglePage: hasFallback ? true : undefined,
      versions: versionsIn(environment),
    }),
  );
  heard.variables.push(
    ...variablesIn(environment, { file, directory, build: true }).filter(
      ({ key }) =>
        toolOf(key) === undefined && !/^(?:NPM|YARN|CI|NETLIFY|SECRETS_SCAN|NEXT_USE|AWS_LAMBDA)/.test(key),
    ),
  );
}

function isFallback(from: string, to: string, status: string): boolean {
  return from === '/*' && /^\/?(?:index\.html)?$/.test(to) && status === '200';
}

function isFallbackLine(line: string): boolean {
  const [from = '', to = '', status = ''] = line.trim().slice(0, 500).split(/\s+/);
  return isFallback(from, to, status.replace('!', ''));
}

/** `public/_redirects` is copied by the build; it speaks of the project above. */
function ownerOf(repository: Repository, folder: string): string {
  const above = folder.slice(0, Math.max(0, folder.lastIndexOf('/')));
  const isCopied = /(?:^|\/)(?:public|static|src|assets|content|source)$/.test(folder);
  return isCopied && hasManifest(repository, above) ? above : folder;
}
