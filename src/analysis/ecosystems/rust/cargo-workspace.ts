/** `[workspace]` of Cargo: its members, and the root itself where it is a package too. */
import type { WorkspaceFinder } from '../../detector.ts';
import { isParsed, join, nameOf, parentOf } from '../../repository.ts';
import { expandMembers } from '../workspace-members.ts';

export const cargoWorkspace: WorkspaceFinder = {
  name: 'cargo',
  find(repository) {
    return [...repository.filesUnder('', ['Cargo.toml'])].flatMap((file) => {
      const workspace = nameOf(file) === 'Cargo.toml' ? repository.toml(file)?.workspace : undefined;
      if (!isParsed(workspace)) return [];
      const root = parentOf(file) ?? '';
      const listed = Array.isArray(workspace.members) ? workspace.members : [];
      const excluded = Array.isArray(workspace.exclude)
        ? workspace.exclude.map((each) => `!${String(each)}`)
        : [];
      const isMember = (directory: string) => repository.has(join(directory, 'Cargo.toml'));
      const members = expandMembers(repository, root, [...listed, ...excluded], isMember);
      return [{ kind: 'cargo', tool: null, root, members, source: { file, note: '[workspace]' } }];
    });
  },
};
