/** What is the same wherever it goes over the wire: ids, times, faults that are kept, and the codes of all faults. */
import Type, { type TSchema } from 'typebox';
import { type ApiFaultCode, apiFaultCodes } from './fault.ts';

export const Time = Type.String({ format: 'date-time', examples: ['2026-11-15T09:30:00.000Z'] });
export const Id = Type.String({ format: 'uuid', examples: ['01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b'] });
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export function isApiFaultCode(code: string): code is ApiFaultCode {
  return Object.hasOwn(apiFaultCodes, code);
}

const codes = Object.keys(apiFaultCodes).filter(isApiFaultCode);

export const FaultCode = Type.Enum(codes, {
  title: 'FaultCode',
  description: `What happened, for programs. One of:\n${codes.map((code) => `- \`${code}\`: ${apiFaultCodes[code]}`).join('\n')}`,
});

/** Why something went wrong, as it is stored with what it happened to. */
export const FaultAnswer = Type.Object(
  {
    // What an older version stored is shown as it is.
    code: Type.Unsafe<string>(FaultCode),
    step: nullable(
      Type.String({ description: 'Where it happened, if it was in a step.', examples: ['build'] }),
    ),
    message: Type.String({ description: 'Why, as a sentence for a person.' }),
    hint: nullable(Type.String({ description: 'What would help.' })),
    evidence: nullable(Type.String({ description: 'The last lines that show it.' })),
  },
  { title: 'Fault', description: 'Why something went wrong, kept with what it happened to.' },
);

export type ShownFault = Type.Static<typeof FaultAnswer>;

/** Some keep less of it: no step where there are none, no evidence where it would tell a secret. */
export function shownFault(
  kept: (Pick<ShownFault, 'code' | 'message' | 'hint'> & Partial<ShownFault>) | null,
): ShownFault | null {
  return kept && { step: null, evidence: null, ...kept };
}
