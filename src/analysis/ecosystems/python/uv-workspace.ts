/** `[tool.uv.workspace]`: the members it lists. */
import type { WorkspaceFinder } from '../../detector.ts';
import { isParsed, join, nameOf, parentOf } from '../../repository.ts';
import { expandMembers } from '../workspace-members.ts';

export const uvWorkspace: WorkspaceFinder = {
  name: 'uv',
  find(repository) {
    return [...repository.filesUnder('', ['pyproject.toml'])].flatMap((file) => {
      const tool = nameOf(file) === 'pyproject.toml' ? repository.toml(file)?.tool : undefined;
      const uv = isParsed(tool) ? tool.uv : undefined;
      const workspace = isParsed(uv) ? uv.workspace : undefined;
      if (!isParsed(workspace)) return [];
      const root = parentOf(file) ?? '';
      const listed = Array.isArray(workspace.members) ? workspace.members : [];
      const excluded = Array.isArray(workspace.exclude)
        ? workspace.exclude.map((each) => `!${String(each)}`)
        : [];
      const isMember = (directory: string) => repository.has(join(directory, 'pyproject.toml'));
      const members = expandMembers(repository, root, [...listed, ...excluded], isMember);
      return [{ kind: 'uv', tool: null, root, members, source: { file, note: '[tool.uv.workspace]' } }];
    });
  },
};
