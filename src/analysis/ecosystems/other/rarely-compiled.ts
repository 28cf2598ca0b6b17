/** Compiled languages that are met rarely: Nim, OCaml, V and D. */
import type { Detector } from '../../detector.ts';
import { join, nameOf } from '../../repository.ts';
import { filesIn, findIn } from '../code.ts';
import { manager } from '../draft.ts';
import { frameworkIn, plainApp } from './plain-app.ts';

export const nim: Detector = {
  name: 'nim',
  detect({ path }, repository) {
    const [file] = filesIn(repository, path, '.nimble');
    if (file === undefined) return [];
    const program = findIn(repository, file, /^bin\s*=\s*@\["([\w/-]+)"/)?.match[1];
    const folder = findIn(repository, file, /^binDir\s*=\s*"([\w/-]+)"/)?.match[1];
    return [
      plainApp(repository, {
        language: 'nim',
        directory: path,
        file,
        name: nameOf(file).replace(/\.nimble$/, ''),
        framework: frameworkIn(repository, [file], {
          jester: ['jester', 5000],
          prologue: ['prologue', 8080],
          happyx: ['happyx', 5000],
          mummy: ['mummy', 8080],
        }),
        manager: manager('nimble', repository.firstOf(path, ['nimble.lock']), file),
        install: 'nimble install -d -y',
        build: 'nimble build -d:release -y',
        start: program === undefined ? undefined : `./${folder === undefined ? '' : `${folder}/`}${program}`,
        endings: ['.nim'],
      }),
    ];
  },
};

export const ocaml: Detector = {
  name: 'ocaml',
  detect({ path, files }, repository) {
    const file = join(path, 'dune-project');
    if (!files.has('dune-project')) return [];
    const opam = filesIn(repository, path, '.opam');
    const rule = [join(path, 'bin/dune'), join(path, 'dune'), join(path, 'src/dune')].find((each) =>
      /\(executable/.test(repository.text(each)?.slice(0, 4_000) ?? ''),
    );
    const name = rule && /\(name\s+([\w-]{1,80})\)/.exec(repository.text(rule)?.slice(0, 4_000) ?? '')?.[1];
    const folder = rule?.slice(path === '' ? 0 : path.length + 1).replace(/dune$/, '') ?? '';
    return [
      plainApp(repository, {
        language: 'ocaml',
        directory: path,
        file,
        framework: frameworkIn(repository, [file, ...opam, ...(rule ? [rule] : [])], {
          dream: ['dream', 8080],
          opium: ['opium', 3000],
          eliom: ['ocsigen', 8080],
          'cohttp-lwt-unix': ['cohttp', 8080],
        }),
        manager: manager('opam', repository.firstOf(path, ['dune.lock']), opam[0] ?? file),
        install: 'opam install . --deps-only -y',
        build: 'dune build --profile release',
        start: name ? `./_build/default/${folder}${name}.exe` : undefined,
        endings: ['.ml'],
      }),
    ];
  },
};

export const vlang: Detector = {
  name: 'v',
  detect({ path, files }, repository) {
    const file = join(path, 'v.mod');
    if (!files.has('v.mod')) return [];
    const sources = filesIn(repository, path, '.v');
    const hasMain = sources.some((each) => findIn(repository, each, /^fn main\(/));
    const isWeb = sources.some((each) => findIn(repository, each, /^import (?:veb|vweb)\b/));
    return [
      plainApp(repository, {
        language: 'v',
        directory: path,
        file,
        framework: isWeb ? { name: 'veb', port: 8080 } : undefined,
        manager: manager('v', undefined, file),
        install: 'v install',
        build: 'v -prod -o app .',
        start: hasMain ? './app' : undefined,
        endings: ['.v'],
      }),
    ];
  },
};

export const dlang: Detector = {
  name: 'd',
  detect({ path }, repository) {
    const file = repository.firstOf(path, ['dub.json', 'dub.sdl']);
    if (file === undefined) return [];
    const name = findIn(repository, file, /^\s*"?name"?\s*:?\s*"([\w:-]+)"/)?.match[1];
    return [
      plainApp(repository, {
        language: 'd',
        directory: path,
        file,
        name,
        framework: frameworkIn(repository, [file], { 'vibe-d': ['vibe-d', 8080], hunt: ['hunt', 8080] }),
        manager: manager('dub', repository.firstOf(path, ['dub.selections.json']), file),
        install: 'dub fetch',
        build: 'dub build -b release',
        start: name === undefined ? undefined : `./${name}`,
        endings: ['.d'],
      }),
    ];
  },
};
