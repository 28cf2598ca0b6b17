/** What a tool is: a name, what it is for, what it takes, and what it does as the one who calls. */
import type { Static, TObject } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../fault.ts';
import type { Caller } from './caller.ts';

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: TObject;
  /** It changes nothing: clients may let it run without asking. */
  readonly isRead: boolean;
  /** How to get what was cut off from a long answer. */
  readonly rest: string;
  run(caller: Caller, input: unknown): Promise<unknown>;
}

interface Declared<T extends TObject> extends Omit<Tool, 'input' | 'run' | 'rest'> {
  readonly input: T;
  readonly rest?: string;
  run(caller: Caller, input: Static<T>): Promise<unknown>;
}

const shownErrors = 5;

export function tool<T extends TObject>(declared: Declared<T>): Tool {
  const { input: schema, rest = 'Ask for less, or for one thing by its id.' } = declared;
  return {
    ...declared,
    rest,
    run: async (caller, given) => {
      const input: unknown = given ?? {};
      if (Value.Check(schema, input)) return declared.run(caller, input);
      const errors = Value.Errors(schema, input)
        .slice(0, shownErrors)
        .map(({ instancePath, message }) => ({ path: instancePath.slice(1).replaceAll('/', '.'), message }));
      throw new Fault('invalid_input', `The arguments of «${declared.name}» are not valid.`, { errors });
    },
  };
}
