/** All that is asked again and again about one package. */
import type { Directory, Repository } from '../../repository.ts';
import { type Framework, frameworks } from './frameworks.ts';
import { dependsOn, type PackageJson, packageIn } from './package-json.ts';
import { managerOf, type NodeManager } from './package-manager.ts';
import { commandsOf, type ScriptCommand } from './script-commands.ts';

export interface PackageContext {
  readonly repository: Repository;
  readonly directory: Directory;
  readonly manifest: PackageJson;
  readonly manager: NodeManager;
}

export function contextOf(repository: Repository, directory: Directory): PackageContext | undefined {
  const manifest = directory.files.has('package.json') ? packageIn(repository, directory.path) : undefined;
  return manifest && { repository, directory, manifest, manager: managerOf(repository, directory.path) };
}

/** The commands behind a script, those of scripts it calls among them. */
export function scriptCommands({ manifest }: PackageContext, name: string): readonly ScriptCommand[] {
  const text = manifest.scripts.get(name);
  return text === undefined ? [] : commandsOf(text, manifest.scripts);
}

export interface FoundFrameworks {
  readonly whole: Framework | undefined;
  readonly server: Framework | undefined;
  readonly bundled: Framework | undefined;
}

export function frameworksOf({ directory, manifest, repository }: PackageContext): FoundFrameworks {
  const find = (all: readonly Framework[]) =>
    all.find(({ packages, files }) => {
      if (packages.some((name) => dependsOn(manifest, name))) return true;
      return (
        files?.some(
          (file) =>
            directory.files.has(file) ||
            (file.includes('/') && repository.has(`${directory.path}/${file}`.replace(/^\//, ''))),
        ) === true
      );
    });
  // A server among the devDependencies serves tests or mocks.
  const servers = frameworks.servers.filter(({ packages }) =>
    packages.some((name) => manifest.dependencies.has(name)),
  );
  const bundled = find(frameworks.bundled);
  const server = servers[0] ?? (bundled ? undefined : find(frameworks.servers));
  return { whole: find(frameworks.whole), server, bundled };
}
