/** What runs beside the web process, and what runs once before a release. */

import { certain, conventional, type Evidenced, evidenced } from '../../../evidence.ts';
import type { Process } from '../../../result.ts';
import type { NodePackage } from '../node-package.ts';
import { runProgram, runScript } from '../package-manager/manager-commands.ts';
import { isDeveloping, isDirecting } from './script-kinds.ts';

const processNames =
  /^(?:start[:-])?((?:[a-z]+[:-])?(?:workers?|queues?|jobs?|consumers?|scheduler|cron|crons))(?:[:-](?:start|prod|run))?$/;

/** Packages that keep a process running and call it by the clock themselves. */
const schedulers = ['node-cron', 'cron', 'croner', 'agenda', 'bree'];

export function processesOf(package_: NodePackage): Evidenced<Process>[] {
  const { manifest, manager } = package_;
  return [...manifest.scripts].flatMap(([script, text]) => {
    const name = processNames.exec(script)?.[1];
    const commands = package_.commands(script);
    if (name === undefined || /^(?:build|dev|test|lint|watch)[:-]/.test(name)) return [];
    if (commands.some(isDeveloping) || commands.every(isDirecting)) return [];
    // A script that runs to its end is a job for the clock; one that schedules by itself must keep running.
    const kind = /^crons?$/.test(name) && !package_.dependsOn(...schedulers) ? 'cron' : 'worker';
    const value: Process = { name, kind, command: runScript(manager, script), schedule: null };
    return [evidenced(value, certain, manifest.file, `${script}: ${text.slice(0, 120)}`)];
  });
}

interface Migrator {
  readonly packages: readonly string[];
  /** Any of these folders or files shows that there are migrations. */
  readonly places: readonly string[];
  readonly program: string;
  /** Of a script that does the same, where it is not the program as it stands. */
  readonly script?: RegExp;
}

const migrators: readonly Migrator[] = [
  {
    packages: ['prisma', '@prisma/client'],
    places: ['prisma/migrations', 'src/prisma/migrations', 'db/migrations', 'prisma/schema/migrations'],
    program: 'prisma migrate deploy',
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
  },
  { packages: ['node-pg-migrate'], places: ['migrations'], program: 'node-pg-migrate up' },
  { packages: ['db-migrate'], places: ['migrations'], program: 'db-migrate up' },
  { packages: ['migrate-mongo'], places: ['migrations'], program: 'migrate-mongo up' },
  { packages: ['@medusajs/medusa'], places: ['src', 'medusa-config.ts'], program: 'medusa db:migrate' },
  {
    packages: ['payload'],
    places: ['src/migrations', 'migrations'],
    program: 'payload migrate',
    script: /payload migrate(?!:)/,
  },
  {
    packages: ['@adonisjs/lucid'],
    places: ['database/migrations'],
    program: 'node ace migration:run --force',
  },
];

/** Scripts that run anyway; what migrates there need not be run again. */
const ownScripts = ['start', 'start:prod', 'prestart', 'build', 'postbuild', 'postinstall'];

export function releaseCommandOf(package_: NodePackage): Evidenced<string> | undefined {
  const { manifest, manager } = package_;
  const runs = (script: string, pattern: RegExp) =>
    pattern.test(manifest.scripts.get(script)?.slice(0, 2_000) ?? '');
  const calls = (script: string, pattern: RegExp) =>
    package_.commands(script).some(({ program, args }) => pattern.test([program, ...args].join(' ')));
  for (const { packages, places, program, script = new RegExp(program) } of migrators) {
    if (!package_.dependsOn(...packages)) continue;
    if (ownScripts.some((name) => runs(name, script) || calls(name, script))) return undefined;
    const named = [...manifest.scripts.keys()].find(
      (name) => runs(name, script) && !/^(?:dev|test|pre|post)|:(?:dev|test|local)$/.test(name),
    );
    if (named !== undefined)
      return evidenced(runScript(manager, named), certain, manifest.file, `${named} migrates`);
    const place = places.find((each) => package_.hasFolder(each) || package_.has(each));
    if (place === undefined || program === '') continue;
    // AdonisJS has its own way to run a program.
    const command = program.startsWith('node ') ? program : runProgram(manager, program);
    return evidenced(command, conventional, package_.at(place), 'there are migrations');
  }
  return undefined;
}
