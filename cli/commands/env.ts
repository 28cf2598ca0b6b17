/** The variables of an environment. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { all, type NewVariable, type SetVariables } from '../../sdk/index.ts';
import { CliError, type Run, usageError } from '../command.ts';
import { collect, type Session } from '../session.ts';

export const list: Run = async (call) => {
  const { terminal } = call;
  const variables = await variablesOf(call, (await call.environment()).id);
  terminal.show(variables, () =>
    terminal.table(
      variables.map(({ key, value, secret, target }) => [
        key,
        secret ? terminal.dim('(secret)') : (value ?? ''),
        target,
      ]),
      ['KEY', 'VALUE', 'FOR'],
      'There are no variables yet. Set one with `slipway env set KEY=VALUE`.',
    ),
  );
  return undefined;
};

function variablesOf(call: Session, id: string) {
  return collect(all((page) => call.client.listVariables({ id, ...page })));
}

export const set: Run = async (call) => {
  call.arg(0, 'KEY=VALUE');
  const variables: NewVariable[] = [];
  for (const word of call.args) {
    const at = word.indexOf('=');
    const key = at === -1 ? word : word.slice(0, at);
    const value = at === -1 ? await call.terminal.askSecret(key) : word.slice(at + 1);
    variables.push({ key, value, ...kindOf(call) });
  }
  return save(call, variables);
};

function kindOf(call: Session): Pick<NewVariable, 'secret' | 'target'> {
  const target = call.text('target');
  if (target !== undefined && target !== 'runtime' && target !== 'build' && target !== 'both')
    throw usageError(`--target is \`runtime\`, \`build\` or \`both\`, not «${target}».`);
  return { ...(call.has('plain') && { secret: false }), ...(target && { target }) };
}

async function save(call: Session, variables: readonly NewVariable[]): Promise<undefined> {
  const { id } = await call.environment();
  const saved = await call.client.setVariables({ id, body: { variables } });
  tell(call, saved, `Set ${variables.map(({ key }) => key).join(', ')}.`);
  return undefined;
}

function tell({ terminal }: Session, value: Pick<SetVariables, 'needs'>, sentence: string): void {
  const next = value.needs === 'nothing' ? '' : ' It counts from the next deployment on: slipway deploy';
  terminal.show(value, () => [`${sentence}${next}`]);
}

export const unset: Run = async (call) => {
  call.arg(0, 'KEY');
  const { id } = await call.environment();
  const needs: SetVariables['needs'][] = [];
  for (const key of call.args) needs.push((await call.client.deleteVariable({ id, key })).needs);
  const most = (['rebuild', 'restart', 'nothing'] as const).find((each) => needs.includes(each)) ?? 'nothing';
  tell(call, { needs: most }, `Removed ${call.args.join(', ')}.`);
  return undefined;
};

export const pull: Run = async (call) => {
  const { terminal } = call;
  const name = call.args[0] ?? '.env';
  const file = resolve(call.folder, name);
  const variables = await variablesOf(call, (await call.environment()).id);
  const shown = variables.filter(({ secret, value }) => !secret && value !== null);
  const hidden = variables.filter(({ secret }) => secret).map(({ key }) => key);
  if (existsSync(file)) await call.confirmed(`${name} is there. Write over it?`);
  const lines = shown.map(({ key, value }) => `${key}=${quoted(value ?? '')}\n`);
  writeFileSync(file, lines.join(''), { mode: 0o600 });
  terminal.show({ file, written: shown.map(({ key }) => key), secret: hidden }, () => [
    `Wrote ${shown.length} ${shown.length === 1 ? 'variable' : 'variables'} to ${name}.`,
    ...(hidden.length > 0 ? [`Not in it, as secrets are never handed out: ${hidden.join(', ')}.`] : []),
  ]);
  return undefined;
};

/** As `env push` and others who read such files take it. */
export function quoted(value: string): string {
  if (/^[\w./:@%+,=-]*$/.test(value)) return value;
  const quote = ["'", '`', '"'].find((each) => !value.includes(each));
  if (quote === undefined || (quote === '"' && value.includes('\\')))
    throw new CliError(
      'A value has every kind of quote in it; a file cannot hold it.',
      'Read it with `slipway env list --json`.',
    );
  return `${quote}${value}${quote}`;
}

export const push: Run = async (call) => {
  const name = call.args[0] ?? '.env';
  const file = resolve(call.folder, name);
  if (!existsSync(file)) throw new CliError(`There is no ${name} here.`, undefined, 'notFound');
  const entries = Object.entries(parseEnv(readFileSync(file, 'utf8')));
  if (entries.length === 0) throw usageError(`${name} has no variables in it.`);
  return save(
    call,
    entries.map(([key, value]) => ({ key, value: value ?? '', ...kindOf(call) })),
  );
};
