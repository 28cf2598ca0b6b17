/** What a change needs before it is in effect. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { EnvironmentSettings, VariableTarget } from './environments.ts';

export type Needs = 'rebuild' | 'restart' | 'nothing';

/** `with_start`: in the image where its Dockerfile is generated, else an argument of the container. */
const effects: Readonly<Record<keyof EnvironmentSettings, Needs | 'with_start'>> = {
  appPath: 'rebuild',
  installCommand: 'rebuild',
  buildCommand: 'rebuild',
  startCommand: 'with_start',
  // With the next deployment, whatever that is for.
  releaseCommand: 'nothing',
  staticOutput: 'rebuild',
  port: 'with_start',
  healthPath: 'restart',
  dockerfilePath: 'rebuild',
  dockerfileTarget: 'rebuild',
  buildMemoryMb: 'nothing',
  buildCpus: 'nothing',
  replicas: 'restart',
  spread: 'restart',
  memoryMb: 'restart',
  cpus: 'restart',
  volumes: 'restart',
  health: 'restart',
  drainSeconds: 'restart',
  stopSeconds: 'restart',
  holdSeconds: 'restart',
  processes: 'restart',
};

export function isSettingKey(key: string): key is keyof EnvironmentSettings {
  return Object.hasOwn(effects, key);
}

export const settingKeys = Object.keys(effects).filter(isSettingKey);

export function changedSettings(before: EnvironmentSettings, after: EnvironmentSettings) {
  return settingKeys.filter((key) => !isDeepStrictEqual(before[key], after[key]));
}

export function needsOfSettings(
  before: EnvironmentSettings,
  after: EnvironmentSettings,
  isGenerated: boolean,
): Needs {
  return most(
    changedSettings(before, after).map((key) => {
      const effect = effects[key];
      return effect === 'with_start' ? (isGenerated ? 'rebuild' : 'restart') : effect;
    }),
  );
}

export interface ComparedVariable {
  readonly value: string;
  readonly target: VariableTarget;
}

/** Undefined: it was not there before, or is not any more. */
export function needsOfVariable(
  before: ComparedVariable | undefined,
  after: ComparedVariable | undefined,
): Needs {
  if (before?.value === after?.value && before?.target === after?.target) return 'nothing';
  const isBuilt = [before, after].some((each) => each !== undefined && each.target !== 'runtime');
  return isBuilt ? 'rebuild' : 'restart';
}

export function most(needs: readonly Needs[]): Needs {
  if (needs.includes('rebuild')) return 'rebuild';
  return needs.includes('restart') ? 'restart' : 'nothing';
}
