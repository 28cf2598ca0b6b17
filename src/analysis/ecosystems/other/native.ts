/** C and C++ with CMake, Meson or Make, and COBOL. */
import type { Candidate, Detector } from '../../detector.ts';
import { join, nameOf, parentOf, type Repository } from '../../repository.ts';
import { filesIn, findIn, linesOf, ownSources, within } from '../code.ts';
import { manager } from '../draft.ts';
import { frameworkIn, plainApp } from './plain-app.ts';

const endings = ['.c', '.cc', '.cpp', '.cxx'];
const frameworks = {
  drogon: ['drogon', 8080],
  crow: ['crow', 18_080],
  oatpp: ['oatpp', 8000],
  pistache: ['pistache', 9080],
  httplib: ['cpp-httplib', 8080],
  restinio: ['restinio', 8080],
  cpprest: ['cpprest', 8080],
  userver: ['userver', 8080],
  wt: ['wt', 8080],
  mongoose: ['mongoose', 8000],
  microhttpd: ['libmicrohttpd', 8080],
} as const;

export const native: Detector = {
  name: 'native',
  detect({ path, files }, repository) {
    const isBelow = (names: readonly string[]) => {
      const parent = parentOf(path);
      return parent !== undefined && repository.upwards(parent, names) !== undefined;
    };
    if (files.has('CMakeLists.txt')) return isBelow(['CMakeLists.txt']) ? [] : [cmake(repository, path)];
    if (files.has('meson.build')) return isBelow(['meson.build']) ? [] : [meson(repository, path)];
    const makefile = repository.firstOf(path, ['Makefile', 'makefile', 'GNUmakefile']);
    const own = endings.flatMap((ending) => filesIn(repository, path, ending));
    const hasSource = () => own.length > 0 || ownSources(repository, join(path, 'src'), endings).length > 0;
    if (makefile && hasSource()) return make(repository, path, makefile);
    return path === repository.root && own.length > 0 ? lone(repository, path, own) : [];
  },
};

function describe(
  repository: Repository,
  directory: string,
  file: string,
  more: {
    name?: string | undefined;
    install?: string | undefined;
    build: string;
    start: string | undefined;
    score?: number;
  },
): Candidate {
  const sources = ownSources(repository, directory, endings);
  const isC = sources.length > 0 && sources.every((path) => path.endsWith('.c'));
  const conan = repository.firstOf(directory, ['conanfile.txt', 'conanfile.py']);
  const vcpkg = repository.firstOf(directory, ['vcpkg.json']);
  return plainApp(repository, {
    language: isC ? 'c' : 'cpp',
    directory,
    file,
    framework: frameworkIn(
      repository,
      [file, ...(vcpkg ? [vcpkg] : []), ...(conan ? [conan] : [])],
      frameworks,
    ),
    manager: conan
      ? manager('conan', repository.firstOf(directory, ['conan.lock']), conan)
      : vcpkg
        ? manager('vcpkg', undefined, vcpkg)
        : undefined,
    install: conan ? 'conan install . --output-folder=build --build=missing' : undefined,
    endings,
    ...more,
  });
}

function cmake(repository: Repository, directory: string): Candidate {
  const file = join(directory, 'CMakeLists.txt');
  const all = [file, ...repository.filesUnder(directory, ['/CMakeLists.txt'])].filter(
    (path, at, list) => list.indexOf(path) === at,
  );
  const project = findIn(repository, file, /^\s*project\s*\(\s*"?([\w.-]+)/i)?.match[1];
  for (const path of all.slice(0, 30)) {
    const found = findIn(
      repository,
      path,
      /^\s*add_executable\s*\(\s*("?[\w.${}-]+"?)/i,
    )?.match[1]?.replaceAll('"', '');
    if (found === undefined || /test/i.test(found)) continue;
    const name = found.replace(/\$\{(?:CMAKE_)?PROJECT_NAME\}/, project ?? 'app');
    if (name.includes('$')) continue;
    const folder = within(directory, parentOf(path) ?? '');
    const place = parentOf(path) === directory ? '' : `${folder}/`;
    return describe(repository, directory, file, {
      name: project,
      build: 'cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build',
      start: `./build/${place}${name}`,
    });
  }
  return describe(repository, directory, file, {
    name: project,
    build: 'cmake -B build && cmake --build build',
    start: undefined,
  });
}

function meson(repository: Repository, directory: string): Candidate {
  const file = join(directory, 'meson.build');
  const project = findIn(repository, file, /^\s*project\s*\(\s*'([\w .-]+)'/)?.match[1];
  for (const path of [file, ...repository.filesUnder(directory, ['/meson.build'])].slice(0, 30)) {
    const hit = /\bexecutable\s*\(\s*'([\w.-]{1,80})'/.exec(linesOf(repository, path).join('\n'))?.[1];
    const name =
      hit ?? (findIn(repository, path, /\bexecutable\s*\(\s*meson\.project_name\(\)/) ? project : undefined);
    if (name === undefined || /test/i.test(name)) continue;
    const place = parentOf(path) === directory ? '' : `${within(directory, parentOf(path) ?? '')}/`;
    return describe(repository, directory, file, {
      name: project,
      build: 'meson setup build --buildtype=release && meson compile -C build',
      start: `./build/${place}${name}`,
    });
  }
  return describe(repository, directory, file, {
    name: project,
    build: 'meson setup build && meson compile -C build',
    start: undefined,
  });
}

function make(repository: Repository, directory: string, file: string): readonly Candidate[] {
  const named = findIn(
    repository,
    file,
    /^\s*(?:TARGET|BIN|BINARY|PROGRAM|EXEC|EXECUTABLE|NAME|PROG|OUT|APP)\s*[:?]?=\s*([\w./-]+)\s*$/,
  )?.match[1];
  const output = findIn(repository, file, /\s-o\s+([\w./-]+)/)?.match[1];
  const rule = findIn(repository, file, /^all\s*:\s*([\w./-]+)/)?.match[1];
  const program = named ?? output ?? rule;
  const start =
    program === undefined || program.endsWith('.o')
      ? undefined
      : program.startsWith('/')
        ? program
        : `./${program.replace(/^\.\//, '')}`;
  return [
    describe(repository, directory, file, { build: 'make', start, score: start === undefined ? 0.3 : 0.6 }),
  ];
}

/** A file without any build. */
function lone(repository: Repository, directory: string, own: readonly string[]): readonly Candidate[] {
  const main = own.find((path) => findIn(repository, path, /\bmain\s*\(/));
  if (main === undefined) return [];
  const isC = main.endsWith('.c');
  const names = own.filter((path) => path.endsWith('.c') === isC).map((path) => nameOf(path));
  const build = `${isC ? 'gcc' : 'g++'} -O2 -o app ${names.join(' ')}`;
  return [describe(repository, directory, main, { build, start: './app', score: 0.4 })];
}

export const cobol: Detector = {
  name: 'cobol',
  detect({ path }, repository) {
    if (path !== '') return [];
    const all = ownSources(repository, path, ['.cbl', '.cob', '.CBL', '.COB']);
    const rank = (file: string) => (/(?:^|\/)(?:index|main)\.\w+$/i.test(file) ? 0 : 1);
    const [file] = [...all].sort((one, other) => rank(one) - rank(other));
    if (file === undefined) return [];
    const name = nameOf(file).replace(/\.\w+$/, '');
    // The fixed form begins in column 8; whoever writes further left means the free one.
    const isFree = findIn(repository, file, /^\s{0,6}(?:IDENTIFICATION|ID)\s+DIVISION/i) !== undefined;
    const copybooks = repository.directory('copybooks') ? ' -I copybooks' : '';
    const build = `cobc -x ${isFree ? '-free ' : ''}-o ${name}${copybooks} ${file}`;
    return [
      plainApp(repository, {
        language: 'cobol',
        directory: path,
        file,
        name,
        build,
        start: `./${name}`,
        endings: ['.cbl', '.cob'],
        score: 0.55,
      }),
    ];
  },
};
