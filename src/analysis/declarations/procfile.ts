/** A Procfile: one process a line. `Procfile.dev` is for the machine of a developer and is not read. */
import type { DeclarationReader } from '../detector.ts';
import type { Process } from '../result.ts';
import { declare } from './declare.ts';
import { filesNamed, folderOfFile } from './places.ts';
import { nothingHeard, strengths } from './strengths.ts';

const mostProcesses = 50;

export const procfileReader: DeclarationReader = {
  name: 'procfile',
  read(repository) {
    const heard = nothingHeard();
    for (const file of filesNamed(repository, ['Procfile'])) {
      const processes = parseProcfile(repository.text(file) ?? '');
      if (processes.size === 0) continue;
      // Some name their only process otherwise; it is the app all the same.
      const [only = ''] = processes.keys();
      const web = processes.has('web')
        ? 'web'
        : processes.size === 1 && !/^(?:worker|release|clock|cron)/.test(only)
          ? only
          : 'web';
      const others = [...processes].filter(
        ([name]) => ![web, 'release', 'postdeploy', 'console'].includes(name),
      );
      heard.declarations.push(
        declare(repository, {
          file,
          directory: folderOfFile(file),
          strength: strengths.procfile,
          start: processes.get(web),
          release: processes.get('release') ?? processes.get('postdeploy'),
          processes: others.map(
            ([name, command]): Process => ({ name, kind: 'worker', command, schedule: null }),
          ),
        }),
      );
    }
    return heard;
  },
};

function parseProcfile(text: string): ReadonlyMap<string, string> {
  const processes = new Map<string, string>();
  for (const line of text.slice(0, 64 * 1024).split('\n')) {
    const found = /^\s{0,20}([\w-]{1,60})\s{0,20}:\s{0,20}(\S.{0,3000})$/.exec(
      line.trimEnd().slice(0, 3_200),
    );
    if (found?.[1] && found[2] && processes.size < mostProcesses) processes.set(found[1], found[2].trim());
  }
  return processes;
}
