/** Where symbolic links lead, by their names alone: nothing is looked up on a disk. */
import { Turns } from '../../../turns.ts';
import { refusedArchive, refusedEntry } from './archive-faults.ts';

/** More than a system follows. */
const mostLinks = 40;
const longestPath = 4_096;
/** Characters looked at for all links together: half a second of work. Links can be made so that each leads through all others. */
const mostWork = 200_000_000;

/**
 * Fails where following a link ends, or passes, outside of the folder. Other links on the way count: by `a/link/..` one
 * comes to where the link leads, not to `a`. One that goes in circles leads nowhere, and stays.
 */
export async function refuseLinksOut(links: ReadonlyMap<string, string>): Promise<void> {
  const turns = new Turns();
  let left = mostWork;
  for (const [path, target] of links) {
    const turn = turns.next();
    if (turn) await turn;
    const { isOut, work } = follow(path, links);
    left -= work;
    if (left < 0) throw refusedArchive('Its symbolic links lead through each other too often.');
    if (isOut)
      throw refusedEntry(path, `is a link that leads out of the folder, to «${target.slice(0, 200)}»`);
  }
}

function follow(path: string, links: ReadonlyMap<string, string>): { isOut: boolean; work: number } {
  const left = path.split('/').reverse();
  let at = '';
  let [followed, work] = [0, 0];
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    work += at.length + part.length + 16;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (at === '') return { isOut: true, work };
      at = at.slice(0, Math.max(0, at.lastIndexOf('/')));
      continue;
    }
    const next = at === '' ? part : `${at}/${part}`;
    const target = links.get(next);
    if (target === undefined) {
      at = next;
      if (at.length > longestPath) return { isOut: true, work };
      continue;
    }
    followed += 1;
    if (target.startsWith('/')) return { isOut: true, work };
    if (followed > mostLinks) return { isOut: false, work };
    left.push(...target.split('/').reverse());
  }
  return { isOut: false, work };
}
