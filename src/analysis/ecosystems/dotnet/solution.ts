/** A solution of several apps. One app with its libraries and tests is no workspace. */
import type { WorkspaceFinder } from '../../detector.ts';
import { parentOf } from '../../repository.ts';
import { linesOf } from '../code.ts';
import { namedMember } from '../workspace-members.ts';
import { isRunnable, readNetProject } from './net-project.ts';

export const dotnetSolution: WorkspaceFinder = {
  name: 'dotnet',
  find(repository) {
    return [...repository.filesUnder('', ['.sln', '.slnx'])].flatMap((file) => {
      const root = parentOf(file) ?? '';
      const members = new Set<string>();
      let runnable = 0;
      for (const line of linesOf(repository, file)) {
        const path = /["']([^"']{1,200}\.(?:cs|fs|vb)proj)["']/.exec(line)?.[1];
        const project = path === undefined ? undefined : namedMember(root, path);
        const read = project === undefined ? undefined : readNetProject(repository, project);
        if (!read || read.isTest || project === undefined) continue;
        if (isRunnable(read)) runnable += 1;
        members.add(parentOf(project) ?? '');
      }
      if (runnable < 2) return [];
      return [
        { kind: 'dotnet', tool: null, root, members: [...members], source: { file, note: 'solution' } },
      ];
    });
  },
};
