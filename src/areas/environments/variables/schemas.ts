/** What goes over the wire about an environment's variables. */
import Type from 'typebox';
import { closed, idParams, matching, nullable, Time } from '../../../http/schemas.ts';
import type { EnvironmentId } from '../../../ids.ts';
import { Needs } from '../settings-schemas.ts';

const Key = Type.String({
  maxLength: 200,
  pattern: matching(
    '^[A-Za-z_][A-Za-z0-9_]*$',
    'must be letters, digits and `_`, and not begin with a digit, such as `API_KEY`',
  ),
  examples: ['API_KEY'],
});
const Target = Type.Enum(['build', 'runtime', 'both'], { examples: ['runtime'] });

export const NewVariable = Type.Object(
  {
    key: Key,
    value: Type.String({
      maxLength: 65_536,
      pattern: matching('^[^\\x00]*$', 'must not contain a zero byte'),
      description: 'Any text; no environment can carry a zero byte.',
      examples: ['s3cret'],
    }),
    secret: Type.Optional(Type.Boolean({ description: 'Never shown again; true if not said.' })),
    target: Type.Optional({ ...Target, description: 'When it is there; `both` if not said.' }),
  },
  { ...closed, title: 'NewVariable' },
);

export const VariablesBody = Type.Object(
  { variables: Type.Array(NewVariable, { minItems: 1, maxItems: 500 }) },
  {
    ...closed,
    title: 'NewVariables',
    examples: [{ variables: [{ key: 'API_KEY', value: 's3cret', secret: true, target: 'runtime' }] }],
  },
);

export const VariableParams = Type.Object({ ...idParams<EnvironmentId>().properties, key: Key }, closed);

export const VariableAnswer = Type.Object(
  {
    key: Type.String({ examples: ['API_KEY'] }),
    value: nullable(Type.String({ description: 'Null where it is secret.' })),
    secret: Type.Boolean(),
    target: Target,
    updatedAt: Time,
  },
  { title: 'Variable' },
);

export const VariablesAnswer = Type.Object(
  { items: Type.Array(VariableAnswer), nextCursor: nullable(Type.String()) },
  { title: 'VariableList' },
);

export const SetVariablesAnswer = Type.Object(
  { variables: Type.Array(VariableAnswer), needs: Needs },
  { title: 'SetVariables' },
);

export const NeedsAnswer = Type.Object({ needs: Needs }, { title: 'ChangeNeeds' });
