/** The folder that a build fills with files for the browser. */

import { certain, conventional, type Evidenced, evidenced } from '../../../evidence.ts';
import { join } from '../../../repository.ts';
import type { StaticOutput } from '../../../result.ts';
import { buildScriptOf } from '../commands/build-command.ts';
import { optionOf, type ScriptCommand } from '../commands/script-commands.ts';
import type { NodePackage } from '../node-package.ts';
import { configuredFolder, settingAt } from './config-value.ts';
import type { NodeFramework } from './framework.ts';
import { frameworkProgram } from './frameworks.ts';

/** Counts from `root`, where the configuration of Vite has one. */
const viteOutput = 'build.outDir';

export function staticFolder(
  package_: NodePackage,
  framework: NodeFramework,
  config: unknown,
  file: string | undefined,
): Evidenced<StaticOutput> {
  const manifest = package_.manifest.file;
  const isSinglePage = framework.isSinglePage === true && !isMultiPage(config);
  const made = (directory: string, certainty: number, from: string, note: string) =>
    evidenced({ directory, isSinglePage }, certainty, from, note);
  const commands = package_.commands(buildScriptOf(package_, framework) ?? 'build');
  const byScript = commands.map(folderInCommand).find((each) => each !== undefined);
  if (byScript !== undefined) return made(byScript, certain, manifest, 'the build script names the folder');
  const root = configuredFolder(settingAt(config, 'root'));
  for (const key of framework.outputKeys ?? []) {
    const folder = configuredFolder(settingAt(config, key));
    if (folder === undefined || file === undefined) continue;
    const isBelow = key === viteOutput && root !== undefined && !isAbsolute(settingAt(config, key));
    return made(isBelow ? join(root, folder) : folder, certain, file, `${key}: ${folder}`);
  }
  if (framework.outputKeys?.includes(viteOutput) && root !== undefined) {
    const up = settingAt(config, viteOutput);
    // `outDir: '../dist'` from a root below.
    if (typeof up === 'string' && up.startsWith('../'))
      return made(configuredFolder(up.slice(3)) ?? 'dist', certain, file ?? manifest, 'build.outDir');
    if (file !== undefined) return made(join(root, 'dist'), conventional, file, 'root of Vite');
  }
  const usual = framework.output ?? 'dist';
  const docs = documentsFolder(package_, framework, commands);
  const directory = docs === undefined ? usual : join(docs, usual);
  return made(directory, conventional, manifest, `${framework.name} builds into it`);
}

function isAbsolute(path: unknown): boolean {
  return typeof path === 'string' && /^(?:\/|__dirname)/.test(path);
}

function documentsFolder(
  { folders }: NodePackage,
  { name, isOutputBelowPages }: NodeFramework,
  commands: readonly ScriptCommand[],
): string | undefined {
  if (!isOutputBelowPages) return undefined;
  const command = commands.find(({ program }) => program === name);
  const given = command?.args.filter((arg) => !arg.startsWith('-'))[1];
  if (command) return configuredFolder(given);
  return folders.has('docs') && !folders.has(`.${name}`) ? 'docs' : undefined;
}

function folderInCommand(command: ScriptCommand): string | undefined {
  const options = frameworkProgram(command.program)?.output;
  return options && configuredFolder(optionOf(command, ...options));
}

/** Several pages by name: then there is no page that answers for all. */
function isMultiPage(config: unknown): boolean {
  const input = settingAt(config, 'build.rollupOptions.input');
  const pages = typeof input === 'object' && input !== null ? Object.keys(input).length : 1;
  return pages > 1 || settingAt(config, 'appType') === 'mpa';
}
