/** A Procfile: one process a line. `Procfile.dev` is for the machine of a developer and is not read. */
import { type PlatformReader, precedence, workerProcess } from '../declaration-file.ts';

const mostProcesses = 50;

export const procfile: PlatformReader = {
  names: ['Procfile'],
  precedence: precedence.procfile,
  read(file) {
    const processes = parseProcfile(file.text);
    if (processes.size === 0) return;
    // Some name their only process otherwise; it is the app all the same.
    const [only = ''] = processes.keys();
    const isOnly = processes.size === 1 && !/^(?:worker|release|clock|cron)/.test(only);
    const web = isOnly ? only : 'web';
    const others = [...processes].filter(
      ([name]) => ![web, 'release', 'postdeploy', 'console'].includes(name),
    );
    file.declare({
      start: processes.get(web),
      release: processes.get('release') ?? processes.get('postdeploy'),
      processes: others.map(([name, command]) => workerProcess(name, command)),
    });
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
