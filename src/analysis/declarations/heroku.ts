/** Heroku's app.json (also Dokku's and Scalingo's), and heroku.yml. An app.json of Expo or React Native says nothing. */
import type { DeclarationReader } from '../detector.ts';
import { guessed } from '../evidence.ts';
import { asEntries, asList, asMany, asObject, asObjects, asText } from '../readers/shape.ts';
import { isParsed, type Parsed, type Repository } from '../repository.ts';
import type { Process, ServiceKind } from '../result.ts';
import { commandOf } from './commands.ts';
import { declare } from './declare.ts';
import { existingFile, filesNamed, folderOfFile } from './places.ts';
import { variableIn, variablesIn, versionsIn } from './platform-variables.ts';
import { type Heard, nothingHeard, strengths } from './strengths.ts';

const addons: readonly (readonly [RegExp, ServiceKind])[] = [
  [/postgres|timescale|^crunchy/, 'postgres'],
  [/redis|^rediscloud|keyvalue|key-value|valkey/, 'redis'],
  [/mysql|cleardb|jawsdb(?!-maria)|stackhero-mysql/, 'mysql'],
  [/maria/, 'mariadb'],
  [/mongo|^objectrocket|^ormongo/, 'mongodb'],
];

export const herokuReader: DeclarationReader = {
  name: 'heroku',
  read(repository) {
    const heard = nothingHeard();
    for (const file of filesNamed(repository, ['app.json', 'scalingo.json'])) {
      const app = repository.json(file);
      if (app && isHerokus(app)) readAppJson(repository, file, app, heard);
    }
    for (const file of filesNamed(repository, ['heroku.yml'])) {
      const manifest = repository.yaml(file);
      if (manifest) readManifest(repository, file, manifest, heard);
    }
    return heard;
  },
};

function isHerokus(app: Parsed): boolean {
  if (app.expo !== undefined || app.displayName !== undefined) return false;
  return [
    'env',
    'addons',
    'buildpacks',
    'formation',
    'scripts',
    'healthchecks',
    'cron',
    'stack',
    'image',
  ].some((key) => app[key] !== undefined);
}

function readAppJson(repository: Repository, file: string, app: Parsed, heard: Heard): void {
  const directory = folderOfFile(file);
  const scripts = asObject(app.scripts);
  const dokku = asObject(scripts.dokku);
  const release = commandOf(dokku.predeploy);
  const checks = asObjects(asObject(app.healthchecks).web);
  const values = Object.fromEntries(
    asEntries(app.env).map(([key, entry]) => [key, isParsed(entry) ? entry.value : entry]),
  );
  heard.declarations.push(
    declare(repository, {
      file,
      directory,
      strength: strengths.platform,
      release,
      health: checks.find(({ path }) => path !== undefined)?.path,
      processes: asObjects(app.cron).map((entry) => cronOf(entry)),
      versions: versionsIn(values),
    }),
  );
  // Run once after an app was made, mostly to migrate and to fill in; better than nothing, weaker than a release line.
  if (release === undefined && commandOf(scripts.postdeploy) !== undefined)
    heard.declarations.push(
      declare(repository, {
        file,
        directory,
        strength: strengths.hint,
        release: scripts.postdeploy,
        certainty: guessed,
      }),
    );
  readAddons(app.addons, file, directory, heard);
  for (const [key, entry] of asEntries(app.env)) {
    if (versionsIn({ [key]: values[key] }) && Object.keys(versionsIn({ [key]: values[key] })).length > 0)
      continue;
    const record = asObject(entry);
    const value = isParsed(entry) ? record.value : entry;
    const generated = asText(record.generator) === 'secret';
    const isGiven = generated || asText(value) !== undefined;
    const variable = variableIn(
      key,
      {
        value,
        required: !isGiven && record.required !== false,
        ...(generated ? { given: 'generate' as const, secret: true } : {}),
      },
      { file, directory },
    );
    if (variable) heard.variables.push(variable);
  }
}

function cronOf(entry: Parsed): Process | undefined {
  const [command, schedule] = [commandOf(entry.command), asText(entry.schedule)];
  return command && schedule ? { name: 'cron', kind: 'cron', command, schedule } : undefined;
}

function readAddons(value: unknown, file: string, directory: string, heard: Heard): void {
  for (const addon of asList(value)) {
    const plan = asText(isParsed(addon) ? addon.plan : addon);
    const kind = plan && addons.find(([pattern]) => pattern.test(plan.toLowerCase()))?.[1];
    if (!plan || !kind) continue;
    const version = isParsed(addon) ? (asText(asObject(addon.options).version) ?? null) : null;
    heard.services.push({
      kind,
      version,
      by: 'declared',
      directory,
      source: { file, note: `addon ${plan}` },
    });
  }
}

function readManifest(repository: Repository, file: string, manifest: Parsed, heard: Heard): void {
  const directory = folderOfFile(file);
  const [setup, build, run] = [asObject(manifest.setup), asObject(manifest.build), asObject(manifest.run)];
  const command = (value: unknown) => (isParsed(value) ? joined(value.command) : commandOf(value));
  const docker = asObject(build.docker).web;
  const others = asEntries(run).filter(([name]) => name !== 'web');
  heard.declarations.push(
    declare(repository, {
      file,
      directory,
      strength: strengths.platform,
      start: command(run.web),
      release: command(manifest.release),
      dockerfile: existingFile(repository, directory, isParsed(docker) ? docker.dockerfile : docker),
      processes: others.map(([name, value]): Process | undefined => {
        const line = command(value);
        return line === undefined ? undefined : { name, kind: 'worker', command: line, schedule: null };
      }),
    }),
  );
  readAddons(setup.addons, file, directory, heard);
  heard.variables.push(
    ...variablesIn(setup.config, { file, directory }),
    ...variablesIn(build.config, { file, directory, build: true }),
  );
}

/** Several lines in a list are run one after the other. */
function joined(value: unknown): string | undefined {
  const lines = asMany(value).flatMap((line) => commandOf(line) ?? []);
  return lines.length === 0 ? undefined : lines.join(' && ');
}
