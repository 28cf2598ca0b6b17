/** The folder that a build fills with files for the browser. */

import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import { join } from '../../repository.ts';
import type { StaticOutput } from '../../result.ts';
import { buildScriptOf } from './build-command.ts';
import { folderOf, valueAt } from './config-value.ts';
import type { Framework } from './frameworks.ts';
import { type PackageContext, scriptCommands } from './package-context.ts';
import { optionOf, type ScriptCommand } from './script-commands.ts';

export function staticFolder(
  context: PackageContext,
  framework: Framework,
  config: unknown,
  file: string | undefined,
): Evidenced<StaticOutput> {
  const isSinglePage = framework.isSinglePage === true && !isMultiPage(config);
  const make = (directory: string, certainty: number, from: string, note: string) =>
    evidenced({ directory, isSinglePage }, certainty, from, note);
  const commands = scriptCommands(context, buildScriptOf(context, framework) ?? 'build');
  const byScript = commands.map((each) => folderInCommand(each)).find((each) => each !== undefined);
  if (byScript !== undefined)
    return make(byScript, certain, context.manifest.file, 'the build script names the folder');
  for (const key of framework.outputKeys ?? []) {
    const folder = folderOf(valueAt(config, key));
    if (folder === undefined || file === undefined) continue;
    const base = key === 'build.outDir' ? folderOf(valueAt(config, 'root')) : undefined;
    return make(
      base === undefined ? folder : outOfRoot(config, base, folder),
      certain,
      file,
      `${key}: ${folder}`,
    );
  }
  if (framework.name === 'vite') {
    const base = folderOf(valueAt(config, 'root'));
    const up = valueAt(config, 'build.outDir');
    // `outDir: '../dist'` from a root below.
    if (base !== undefined && typeof up === 'string' && up.startsWith('../'))
      return make(folderOf(up.slice(3)) ?? 'dist', certain, file ?? context.manifest.file, 'build.outDir');
    if (base !== undefined && file !== undefined)
      return make(join(base, 'dist'), conventional, file, 'root of Vite');
  }
  const custom = framework.output ?? 'dist';
  const docs = documentsFolder(context, framework, commands);
  return make(
    docs === undefined ? custom : join(docs, custom),
    conventional,
    context.manifest.file,
    `${framework.name} builds into it`,
  );
}

/** VitePress and VuePress put their output under the folder of the pages. */
function documentsFolder(
  { directory }: PackageContext,
  { name }: Framework,
  commands: readonly ScriptCommand[],
): string | undefined {
  if (name !== 'vitepress' && name !== 'vuepress') return undefined;
  const command = commands.find(({ program }) => program === name);
  const given = command?.args.filter((arg) => !arg.startsWith('-'))[1];
  if (command) return folderOf(given);
  return directory.folders.has('docs') && !directory.folders.has(`.${name}`) ? 'docs' : undefined;
}

function folderInCommand(command: ScriptCommand): string | undefined {
  const { program } = command;
  const names: Readonly<Record<string, readonly string[]>> = {
    vite: ['--outDir'],
    eleventy: ['--output'],
    '@11ty/eleventy': ['--output'],
    parcel: ['--dist-dir', '-d', '--out-dir'],
    'vue-cli-service': ['--dest'],
    ng: ['--output-path'],
    astro: ['--outDir'],
    docusaurus: ['--out-dir'],
    next: ['-o'],
    'build-storybook': ['-o', '--output-dir'],
    storybook: ['-o', '--output-dir'],
    ember: ['--output-path', '-o'],
    vitepress: ['--outDir'],
    expo: ['--output-dir'],
    webpack: ['--output-path', '-o'],
  };
  return Object.hasOwn(names, program) ? folderOf(optionOf(command, ...(names[program] ?? []))) : undefined;
}

function outOfRoot(config: unknown, base: string, folder: string): string {
  const written = valueAt(config, 'build.outDir');
  return typeof written === 'string' && /^(?:\/|__dirname)/.test(written) ? folder : join(base, folder);
}

/** Several pages by name: then there is no page that answers for all. */
function isMultiPage(config: unknown): boolean {
  const input = valueAt(config, 'build.rollupOptions.input');
  const pages = typeof input === 'object' && input !== null ? Object.keys(input).length : 1;
  return pages > 1 || valueAt(config, 'appType') === 'mpa';
}
