/** From what is known of an app to what is said of it, and the evidence for each value. */

import type { AppDraft } from '../detector.ts';
import type { Evidenced, FieldEvidence } from '../evidence.ts';
import { nameOf, type Repository } from '../repository.ts';
import type { App } from '../result.ts';
import { languageShares } from './language-shares.ts';
import type { ChosenApp } from './resolve-apps.ts';

export function describeApp(
  app: ChosenApp,
  repository: Repository,
): { described: App; sources: FieldEvidence[] } {
  const { directory, draft } = app;
  const sources: FieldEvidence[] = [];
  const certainties: number[] = [];
  const take = <T>(field: string, value: Evidenced<T> | undefined): T | null => {
    if (!value) return null;
    sources.push({ ...value.source, field });
    certainties.push(value.certainty);
    return value.value;
  };
  /** Where no file says it; the one that shows that there is an app stands for it. */
  const instead = (field: 'name' | 'language', value: string): string => {
    const shows = [draft.language, draft.startCommand, draft.dockerfile, draft.staticOutput].find(Boolean);
    const note = field === 'language' ? 'most of the source' : unnamed(directory);
    if (shows) sources.push({ file: shows.source.file, note, field });
    return value;
  };
  const versions = Object.entries(draft.versions ?? {}).map(([name, version]): [string, string] => [
    name,
    take(`versions.${name}`, version) ?? '',
  ]);
  const dockerfile = take('dockerfile', draft.dockerfile);
  const staticOutput = take('staticOutput', draft.staticOutput);
  if (staticOutput) take('staticOutput.isSinglePage', draft.singlePage);
  const startCommand = take('startCommand', draft.startCommand);
  const isStatic = staticOutput !== null && startCommand === null;
  const described: App = {
    path: directory === '' ? '.' : directory,
    name: take('name', draft.name) ?? instead('name', directory === '' ? 'app' : nameOf(directory)),
    language: take('language', draft.language) ?? instead('language', mainLanguage(repository, directory)),
    framework: take('framework', draft.framework),
    packageManager: take('packageManager', draft.packageManager),
    versions: Object.fromEntries(versions),
    installCommand: take('installCommand', draft.installCommand),
    buildCommand: take('buildCommand', draft.buildCommand),
    startCommand,
    releaseCommand: take('releaseCommand', draft.releaseCommand),
    staticOutput,
    port: isStatic ? null : take('port', draft.port),
    healthPath: take('healthPath', draft.healthPath),
    processes: (draft.processes ?? []).flatMap((each, at) => take(`processes[${at}]`, each) ?? []),
    dockerfile: dockerfile === null ? null : { path: dockerfile },
    volumes: (draft.volumes ?? []).flatMap((each, at) => take(`volumes[${at}]`, each) ?? []),
    confidence: confidenceOf(app.score, certainties, shownBy(draft)),
  };
  return { described, sources };
}

function unnamed(directory: string): string {
  return directory === '' ? 'nothing names it' : 'the name of its folder';
}

/** How sure it is what runs: the rest may be as certain as it likes, if that is a guess the app may not start. */
function shownBy({ dockerfile, startCommand, staticOutput }: AppDraft): number {
  const runs = startCommand?.value == null ? undefined : startCommand.certainty;
  const serves = staticOutput?.value == null ? undefined : staticOutput.certainty;
  return dockerfile?.certainty ?? runs ?? serves ?? 0;
}

function confidenceOf(score: number, certainties: readonly number[], most: number): number {
  const mean = certainties.reduce((sum, each) => sum + each, 0) / Math.max(1, certainties.length);
  return Math.round(Math.min((score + mean) / 2, 0.5 + most / 2) * 100) / 100;
}

/** Where only a Dockerfile tells that there is an app. */
function mainLanguage(repository: Repository, directory: string): string {
  const code = languageShares(repository, directory).filter(({ name }) => name !== 'css');
  return code[0]?.name ?? 'unknown';
}
