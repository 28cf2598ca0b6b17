/** What an analysis found, as sentences for the one who watches. Pure. */
import type { AnalysisResult, App } from '../../analysis/result.ts';

export interface Finding {
  readonly about: 'app' | 'service' | 'variables' | 'monorepo' | 'warning';
  readonly text: string;
}

export function findingsOf({ apps, services, variables, monorepo, warnings }: AnalysisResult): Finding[] {
  const required = variables.filter((each) => each.required && each.given === null).map(({ key }) => key);
  return [
    ...(monorepo
      ? [
          say(
            'monorepo',
            `A ${monorepo.tool ?? monorepo.kind} workspace with ${count(monorepo.members.length, 'member')}.`,
          ),
        ]
      : []),
    ...apps.map((app) => say('app', appSentence(app))),
    ...(apps.length === 0 ? [say('warning', 'Nothing was found that could be run or served.')] : []),
    ...services.map(({ kind, certainty, reason }) =>
      say('service', `${certainty === 'needed' ? 'Needs' : 'Probably needs'} ${kind}: ${reason}`),
    ),
    ...(required.length > 0 ? [say('variables', `Needs a value for ${required.join(', ')}.`)] : []),
    ...warnings.map(({ message }) => say('warning', message)),
  ];
}

function appSentence({ path, language, framework, packageManager, startCommand, staticOutput }: App): string {
  const what = framework === null ? language : `${framework} (${language})`;
  const where = path === '.' ? '' : ` in ${path}`;
  const tool = packageManager ? `, with ${packageManager.name}` : '';
  const how = staticOutput
    ? `; serves the files in ${staticOutput.directory}`
    : startCommand !== null
      ? `; starts with «${startCommand}»`
      : '; how it starts is not known';
  return `${what}${where}${tool}${how}.`;
}

function say(about: Finding['about'], text: string): Finding {
  return { about, text };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
