/** What runs beside the web process, and what runs once before a release. */

import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import { join } from '../../repository.ts';
import type { Process } from '../../result.ts';
import { runProgram, runScript } from './manager-commands.ts';
import { type PackageContext, scriptCommands } from './package-context.ts';
import { dependsOn } from './package-json.ts';
import { isDeveloping, isDirecting } from './script-kinds.ts';

const processNames =
  /^(?:start[:-])?((?:[a-z]+[:-])?(?:workers?|queues?|jobs?|consumers?|scheduler|cron|crons))(?:[:-](?:start|prod|run))?$/;

export function processesOf(context: PackageContext): Evidenced<Process>[] {
  const found: Evidenced<Process>[] = [];
  for (const [script, text] of context.manifest.scripts) {
    const name = processNames.exec(script)?.[1];
    const commands = scriptCommands(context, script);
    if (
      name === undefined ||
      /^(?:build|dev|test|lint|watch)[:-]/.test(name) ||
      commands.some(isDeveloping) ||
      commands.every(isDirecting)
    )
      continue;
    // A script that runs to its end is a job for the clock; one that schedules by itself must keep running.
    const isCron =
      /^crons?$/.test(name) &&
      !['node-cron', 'cron', 'croner', 'agenda', 'bree'].some((each) => dependsOn(context.manifest, each));
    const value: Process = {
      name,
      kind: isCron ? 'cron' : 'worker',
      command: runScript(context.manager, script),
      schedule: null,
    };
    found.push(evidenced(value, certain, context.manifest.file, `${script}: ${text.slice(0, 120)}`));
  }
  return found;
}

interface Migrator {
  readonly packages: readonly string[];
  /** Any of these folders or files tells that there are migrations. */
  readonly places: readonly string[];
  readonly program: string;
  /** Of a script that does the same. */
  readonly script: RegExp;
}

const migrators: readonly Migrator[] = [
  {
    packages: ['prisma', '@prisma/client'],
    places: ['prisma/migrations', 'src/prisma/migrations', 'db/migrations', 'prisma/schema/migrations'],
    program: 'prisma migrate deploy',
    script: /prisma migrate deploy/,
  },
  {
    packages: ['drizzle-kit'],
    places: [
      'drizzle',
      'drizzle/meta',
      'migrations/meta',
      'src/db/migrations',
      'db/migrations',
      'src/drizzle',
      'migrations',
    ],
    program: 'drizzle-kit migrate',
    script: /drizzle-kit migrate/,
  },
  {
    packages: ['knex'],
    places: ['migrations', 'db/migrations', 'src/migrations', 'src/db/migrations'],
    program: 'knex migrate:latest',
    script: /knex.{0,80} migrate:latest/,
  },
  {
    packages: ['sequelize-cli'],
    places: ['migrations', 'db/migrations', 'src/migrations', 'src/db/migrations', 'database/migrations'],
    program: 'sequelize-cli db:migrate',
    script: /sequelize(?:-cli)? db:migrate/,
  },
  { packages: ['typeorm'], places: [], program: '', script: /migration:run/ },
  {
    packages: ['@mikro-orm/cli', '@mikro-orm/migrations'],
    places: ['migrations', 'src/migrations'],
    program: 'mikro-orm migration:up',
    script: /mikro-orm migration:up/,
  },
  {
    packages: ['node-pg-migrate'],
    places: ['migrations'],
    program: 'node-pg-migrate up',
    script: /node-pg-migrate up/,
  },
  { packages: ['db-migrate'], places: ['migrations'], program: 'db-migrate up', script: /db-migrate up/ },
  {
    packages: ['migrate-mongo'],
    places: ['migrations'],
    program: 'migrate-mongo up',
    script: /migrate-mongo up/,
  },
  {
    packages: ['@medusajs/medusa'],
    places: ['src', 'medusa-config.ts'],
    program: 'medusa db:migrate',
    script: /medusa db:migrate/,
  },
  {
    packages: ['payload'],
    places: ['src/migrations', 'migrations'],
    program: 'payload migrate',
    script: /payload migrate(?!:)/,
  },
];

export function releaseCommandOf(context: PackageContext): Evidenced<string> | undefined {
  const { manifest, manager, repository, directory } = context;
  const runs = (script: string, pattern: RegExp) =>
    pattern.test(manifest.scripts.get(script)?.slice(0, 2_000) ?? '');
  for (const { packages, places, program, script } of migrators) {
    if (!packages.some((name) => dependsOn(manifest, name))) continue;
    // The start or the build does it already.
    if (
      ['start', 'start:prod', 'prestart', 'build', 'postbuild', 'postinstall'].some(
        (name) =>
          scriptCommands(context, name).length > 0 && (runs(name, script) || calls(context, name, script)),
      )
    )
      return undefined;
    const named = [...manifest.scripts.keys()].find(
      (name) => runs(name, script) && !/^(?:dev|test|pre|post)|:(?:dev|test|local)$/.test(name),
    );
    if (named !== undefined)
      return evidenced(runScript(manager, named), certain, manifest.file, `${named} migrates`);
    const place = places.find(
      (each) =>
        repository.directory(join(directory.path, each)) ?? repository.has(join(directory.path, each)),
    );
    if (place !== undefined && program !== '')
      return evidenced(
        runProgram(manager, program),
        conventional,
        join(directory.path, place),
        'there are migrations',
      );
  }
  if (
    dependsOn(manifest, '@adonisjs/lucid') &&
    repository.directory(join(directory.path, 'database/migrations'))
  )
    return evidenced(
      'node ace migration:run --force',
      conventional,
      join(directory.path, 'database/migrations'),
      'there are migrations',
    );
  return undefined;
}

/** The script calls another one that does it. */
function calls(context: PackageContext, script: string, pattern: RegExp): boolean {
  return scriptCommands(context, script).some(({ program, args }) =>
    pattern.test([program, ...args].join(' ')),
  );
}
