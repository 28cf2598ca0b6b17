/** Haskell, with Stack or Cabal. */
import type { Detector } from '../../detector.ts';
import { isParsed, join, type Repository } from '../../repository.ts';
import { filesIn, findIn } from '../code.ts';
import { manager } from '../draft.ts';
import { toolVersion } from '../tool-versions.ts';
import { frameworkIn, plainApp } from './plain-app.ts';

const frameworks = {
  'yesod-core': ['yesod', 3000],
  yesod: ['yesod', 3000],
  ihp: ['ihp', 8000],
  'servant-server': ['servant', 8080],
  scotty: ['scotty', 3000],
  Spock: ['spock', 8080],
  'snap-server': ['snap', 8000],
  'happstack-server': ['happstack', 8000],
  twain: ['twain', 8080],
  warp: ['warp', 3000],
} as const;

export const haskell: Detector = {
  name: 'haskell',
  detect({ path, files }, repository) {
    const cabal = filesIn(repository, path, '.cabal');
    const isStack = files.has('stack.yaml');
    if (!isStack && cabal.length === 0 && !files.has('package.yaml')) return [];
    const file = isStack ? join(path, 'stack.yaml') : (cabal[0] ?? join(path, 'package.yaml'));
    const manifests = [...cabal, join(path, 'package.yaml')];
    const program = programOf(repository, path, cabal);
    return [
      plainApp(repository, {
        language: 'haskell',
        directory: path,
        file,
        framework: frameworkIn(repository, manifests, frameworks),
        manager: isStack
          ? manager('stack', repository.firstOf(path, ['stack.yaml.lock']), file)
          : manager('cabal', repository.firstOf(path, ['cabal.project.freeze']), file),
        versions: { haskell: toolVersion(repository, path, 'haskell') },
        install: isStack
          ? 'stack build --only-dependencies'
          : 'cabal update && cabal build --only-dependencies',
        build: isStack ? 'stack build' : 'cabal build',
        start: program === undefined ? undefined : isStack ? `stack exec ${program}` : `cabal run ${program}`,
        endings: ['.hs'],
      }),
    ];
  },
};

function programOf(repository: Repository, directory: string, cabal: readonly string[]): string | undefined {
  const path = join(directory, 'package.yaml');
  const package_ = repository.has(path) ? repository.yaml(path) : undefined;
  const listed = isParsed(package_?.executables) ? Object.keys(package_.executables)[0] : undefined;
  if (listed !== undefined && /^[\w-]+$/.test(listed)) return listed;
  if (isParsed(package_?.executable) && typeof package_.name === 'string') return package_.name;
  for (const file of cabal) {
    const name = findIn(repository, file, /^executable\s+([\w-]+)/i)?.match[1];
    if (name !== undefined) return name;
  }
  return undefined;
}
