/** A directory with a package.json, and what is asked again and again about it. */
import { Project } from '../../project.ts';
import type { Repository } from '../../repository.ts';
import { commandsOf, type ScriptCommand } from './commands/script-commands.ts';
import { dependsOn, type PackageJson, packageIn } from './package-manager/package-json.ts';
import { managerOf, type NodeManager } from './package-manager/package-manager.ts';

export class NodePackage extends Project {
  readonly manifest: PackageJson;
  readonly manager: NodeManager;

  constructor(repository: Repository, path: string, manifest: PackageJson) {
    super(repository, path);
    this.manifest = manifest;
    this.manager = managerOf(repository, path);
  }

  static in({ repository, path }: Project): NodePackage | undefined {
    const manifest = packageIn(repository, path);
    return manifest && new NodePackage(repository, path, manifest);
  }

  /** At run time or for building. */
  dependsOn(...names: readonly string[]): boolean {
    return names.some((name) => dependsOn(this.manifest, name));
  }

  /** The commands behind a script, those of scripts it calls among them. */
  commands(script: string): readonly ScriptCommand[] {
    const text = this.manifest.scripts.get(script);
    return text === undefined ? [] : commandsOf(text, this.manifest.scripts);
  }
}
