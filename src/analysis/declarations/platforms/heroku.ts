/** Heroku's app.json (also Dokku's and Scalingo's), and heroku.yml. An app.json of Expo or React Native says nothing. */
import { guessed } from '../../evidence.ts';
import { asEntries, asList, asObject, asObjects, asText, valueAt } from '../../readers/shape.ts';
import { isParsed, type Parsed } from '../../repository.ts';
import type { Process, ServiceKind } from '../../result.ts';
import { commandOf, joinedCommands } from '../commands.ts';
import { type DeclarationFile, type PlatformReader, precedence, workerProcess } from '../declaration-file.ts';
import { versionsIn } from '../platform-variables.ts';

const addons: readonly (readonly [RegExp, ServiceKind])[] = [
  [/postgres|timescale|^crunchy/, 'postgres'],
  [/redis|^rediscloud|keyvalue|key-value|valkey/, 'redis'],
  [/mysql|cleardb|jawsdb(?!-maria)|stackhero-mysql/, 'mysql'],
  [/maria/, 'mariadb'],
  [/mongo|^objectrocket|^ormongo/, 'mongodb'],
];
const ownKeys = 'env addons buildpacks formation scripts healthchecks cron stack image'.split(' ');

export const herokuApp: PlatformReader = {
  names: ['app.json', 'scalingo.json'],
  read(file) {
    const { config: app } = file;
    if (app.expo !== undefined || app.displayName !== undefined) return;
    if (!ownKeys.some((key) => app[key] !== undefined)) return;
    const release = commandOf(valueAt(app, 'scripts', 'dokku', 'predeploy'));
    const postdeploy = valueAt(app, 'scripts', 'postdeploy');
    const values = Object.fromEntries(
      asEntries(app.env).map(([key, entry]) => [key, isParsed(entry) ? entry.value : entry]),
    );
    file.declare({
      release,
      health: asObjects(valueAt(app, 'healthchecks', 'web')).find(({ path }) => path !== undefined)?.path,
      processes: asObjects(app.cron).map(cronOf),
      versions: versionsIn(values),
    });
    // Run once after an app was made, mostly to migrate and to fill in; better than nothing, weaker than a release line.
    if (release === undefined && commandOf(postdeploy) !== undefined)
      file.declare({ precedence: precedence.hint, release: postdeploy, certainty: guessed });
    readAddons(file, app.addons);
    for (const [key, entry] of asEntries(app.env)) {
      const value = values[key];
      if (Object.keys(versionsIn({ [key]: value })).length > 0) continue;
      const { generator, required } = asObject(entry);
      const isGenerated = asText(generator) === 'secret';
      const isGiven = isGenerated || asText(value) !== undefined;
      file.variable(key, {
        value,
        required: !isGiven && required !== false,
        ...(isGenerated ? { given: 'generate', secret: true } : {}),
      });
    }
  },
};

function cronOf(entry: Parsed): Process | undefined {
  const [command, schedule] = [commandOf(entry.command), asText(entry.schedule)];
  return command && schedule ? { name: 'cron', kind: 'cron', command, schedule } : undefined;
}

function readAddons(file: DeclarationFile, value: unknown): void {
  for (const addon of asList(value)) {
    const plan = asText(isParsed(addon) ? addon.plan : addon);
    const kind = plan && addons.find(([pattern]) => pattern.test(plan.toLowerCase()))?.[1];
    if (kind) file.service(kind, `addon ${plan}`, valueAt(addon, 'options', 'version'));
  }
}

export const herokuManifest: PlatformReader = {
  names: ['heroku.yml'],
  read(file) {
    const { config } = file;
    const command = (value: unknown) => (isParsed(value) ? joinedCommands(value.command) : commandOf(value));
    const docker = valueAt(config, 'build', 'docker', 'web');
    const others = asEntries(config.run).filter(([name]) => name !== 'web');
    file.declare({
      start: command(valueAt(config, 'run', 'web')),
      release: command(config.release),
      dockerfile: file.file(isParsed(docker) ? docker.dockerfile : docker),
      processes: others.map(([name, value]) => workerProcess(name, command(value))),
    });
    readAddons(file, valueAt(config, 'setup', 'addons'));
    file.variables(valueAt(config, 'setup', 'config'));
    file.variables(valueAt(config, 'build', 'config'), { build: true });
  },
};
