/** `go.work`: the modules it uses. */
import type { WorkspaceFinder } from '../../detector.ts';
import { join, nameOf, parentOf } from '../../repository.ts';
import { linesOf } from '../code.ts';
import { namedMember } from '../workspace-members.ts';

export const goWorkspace: WorkspaceFinder = {
  name: 'go',
  find(repository) {
    return [...repository.filesUnder('', ['go.work'])]
      .filter((file) => nameOf(file) === 'go.work')
      .map((file) => {
        const root = parentOf(file) ?? '';
        let isInside = false;
        const members: string[] = [];
        for (const line of linesOf(repository, file)) {
          const text = line.split('//')[0]?.trim() ?? '';
          const name = /^use\s+([^\s(]+)$/.exec(text)?.[1] ?? (isInside && text !== ')' ? text : undefined);
          if (/^use\s*\($/.test(text)) isInside = true;
          else if (text === ')') isInside = false;
          const member = name ? namedMember(root, name.replaceAll('"', '')) : undefined;
          if (member !== undefined && repository.has(join(member, 'go.mod'))) members.push(member);
        }
        return { kind: 'go', tool: null, root, members, source: { file, note: 'use' } };
      });
  },
};
