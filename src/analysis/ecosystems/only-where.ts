/** Detectors are asked only where one of their files lies, so that thousands of other folders cost nothing. */
import type { Detector } from '../detector.ts';
import type { Directory } from '../repository.ts';

const known = new WeakMap<Directory, ReadonlySet<string>>();

/** `marks`: names of files, and endings as in `*.csproj`, with spaces between. */
export function onlyWhere(marks: string, detector: Detector): Detector {
  const all = marks.split(/\s+/);
  const names = all.filter((mark) => !mark.startsWith('*'));
  const endings = all.filter((mark) => mark.startsWith('*')).map((mark) => mark.slice(2));
  return {
    name: detector.name,
    detect(directory, repository) {
      const isHere =
        names.some((name) => directory.files.has(name)) ||
        (endings.length > 0 && endings.some((ending) => endingsOf(directory).has(ending)));
      return isHere ? detector.detect(directory, repository) : [];
    },
  };
}

function endingsOf(directory: Directory): ReadonlySet<string> {
  const seen = known.get(directory);
  if (seen) return seen;
  const found = new Set<string>();
  for (const name of directory.files) found.add(name.slice(name.lastIndexOf('.') + 1));
  known.set(directory, found);
  return found;
}
