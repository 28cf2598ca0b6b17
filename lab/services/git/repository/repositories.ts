/**
 * The bare repositories on the disk. Owns where they lie, how they are made and what stands in their
 * configuration; refuses to take over a configuration that somebody else wrote.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository } from '../state.ts';
import { BareRepository, type Git } from './git.ts';

const configuration = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n';

export class Repositories {
  readonly git: Git;
  readonly root: string;
  constructor(git: Git, root: string) {
    this.git = git;
    this.root = root;
  }

  of(repository: Repository): BareRepository {
    return new BareRepository(this.git, join(this.root, ...this.pathOf(repository)));
  }

  pathOf(repository: Repository): [owner: string, folder: string] {
    return [repository.owner, `${repository.name}.git`];
  }

  async create(repository: Repository): Promise<BareRepository> {
    const bare = this.of(repository);
    // What lies there belongs to no repository the host knows: a creation that did not get to its end.
    rmSync(bare.dir, { recursive: true, force: true });
    mkdirSync(join(this.root, repository.owner), { recursive: true });
    const branch = `--initial-branch=${repository.defaultBranch}`;
    await this.git.run(['init', '--quiet', '--bare', '--template=', branch, bare.dir]);
    this.resetConfiguration(repository);
    return bare;
  }

  /** A filter or an archive command in the file would run programs; nothing in it is ours to keep. */
  resetConfiguration(repository: Repository): void {
    writeFileSync(join(this.of(repository).dir, 'config'), configuration);
  }

  remove(repository: Repository): void {
    rmSync(this.of(repository).dir, { recursive: true, force: true });
  }
}
