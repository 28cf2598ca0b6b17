/** Google App Engine (app.yaml), Cloud Foundry (manifest.yml), AWS App Runner (apprunner.yaml), Platform.sh. */
import type { DeclarationReader } from '../detector.ts';
import { asMany, asObject, asObjects, asText, asTexts } from '../readers/shape.ts';
import type { Parsed, Repository } from '../repository.ts';
import { declare } from './declare.ts';
import { existingFolder, filesNamed, folderOfFile } from './places.ts';
import { variablesIn } from './platform-variables.ts';
import { type Heard, nothingHeard, strengths } from './strengths.ts';

export const cloudReader: DeclarationReader = {
  name: 'clouds',
  read(repository) {
    const heard = nothingHeard();
    for (const file of filesNamed(repository, ['app.yaml', 'app.yml'])) {
      const config = repository.yaml(file);
      if (config && asText(config.runtime)) readAppEngine(repository, file, config, heard);
    }
    for (const file of filesNamed(repository, ['manifest.yml', 'manifest.yaml'])) {
      for (const app of asObjects(repository.yaml(file)?.applications))
        readFoundry(repository, file, app, heard);
    }
    for (const file of filesNamed(repository, ['apprunner.yaml'])) {
      const config = repository.yaml(file);
      if (config) readAppRunner(repository, file, config, heard);
    }
    return heard;
  },
};

function readAppEngine(repository: Repository, file: string, config: Parsed, heard: Heard): void {
  const directory = folderOfFile(file);
  const [, tool = '', digits = ''] =
    /^(nodejs|python|go|ruby|java|php)(\d{1,4})$/.exec(asText(config.runtime) ?? '') ?? [];
  const glued = /^(?:python|go|php|ruby)$/.test(tool) && digits.length > 1;
  const version = glued ? `${digits[0]}.${digits.slice(1)}` : digits;
  heard.declarations.push(
    declare(repository, {
      file,
      directory,
      strength: strengths.platform,
      start: config.entrypoint,
      health: asObject(config.readiness_check).path ?? asObject(config.liveness_check).path,
      versions: tool === '' || version === '' ? {} : { [tool === 'nodejs' ? 'node' : tool]: version },
    }),
  );
  heard.variables.push(...variablesIn(config.env_variables, { file, directory }));
}

function readFoundry(repository: Repository, file: string, app: Parsed, heard: Heard): void {
  const path = asText(app.path);
  // A path to an archive names what the build makes, not a folder of sources.
  const directory = existingFolder(
    repository,
    folderOfFile(file),
    path !== undefined && /\.\w{2,4}$/.test(path) ? '' : path,
  );
  if (directory === undefined) return;
  heard.declarations.push(
    declare(repository, {
      file,
      directory,
      strength: strengths.platform,
      name: app.name,
      start: app.command,
      health: app['health-check-http-endpoint'],
    }),
  );
  heard.variables.push(...variablesIn(app.env, { file, directory }));
}

function readAppRunner(repository: Repository, file: string, config: Parsed, heard: Heard): void {
  const directory = folderOfFile(file);
  const [build, run] = [asObject(config.build), asObject(config.run)];
  const lines = asTexts(asObject(build.commands).build);
  heard.declarations.push(
    declare(repository, {
      file,
      directory,
      strength: strengths.platform,
      build: lines.length === 0 ? undefined : lines.join(' && '),
      start: run.command,
      port: asObject(run.network).port,
    }),
  );
  const record = Object.fromEntries(
    asMany(run.env).map((each) => [asText(asObject(each).name) ?? '', asObject(each).value]),
  );
  heard.variables.push(...variablesIn(record, { file, directory }));
}
