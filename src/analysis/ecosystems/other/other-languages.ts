/** The table of `language.ts`: every language that has no folder of its own. */
import type { Detector } from '../../detector.ts';
import {
  clojureTools,
  crystal,
  dartServer,
  erlang,
  flutter,
  haskell,
  leiningen,
  swift,
} from './compiled-languages.ts';
import { detectorOf, type Language } from './language.ts';
import { c, cobol, cpp } from './native-languages.ts';
import { julia, lua, perl, r, scheme, shell } from './scripting-languages.ts';

/** Rows of one language stand together; the first that fits counts. */
const languages: readonly (readonly Language[])[] = [
  [leiningen, clojureTools],
  [haskell],
  [erlang],
  [flutter, dartServer],
  [crystal],
  [swift],
  [cpp, c],
  [lua],
  [perl],
  [r],
  [julia],
  [scheme],
  [cobol],
];
/** Found by `jvm.ts` where there is no build tool, and built like those of the table. */
const java: Language = { language: 'java', image: 'eclipse-temurin:{version}-jdk', imageVersion: '21' };
const kotlin: Language = { ...java, language: 'kotlin', versionKey: 'java' };

export const otherLanguages: readonly Detector[] = languages.map((rows) => detectorOf(...rows));
export const shellScripts = detectorOf(shell);

/** The row of an app, by the tools it uses where its language has two. */
export function languageRow(
  language: string,
  tools: readonly (string | null | undefined)[],
): Language | undefined {
  const all = [...languages.flat(), shell, java, kotlin].filter((row) => row.language === language);
  return (
    all.find(({ variant }) => variant !== undefined && tools.includes(variant)) ??
    all.find(({ variant }) => variant === undefined)
  );
}
