/** The pieces that schemas of all areas are made of. */
import Type, { type TSchema } from 'typebox';
import { pageLimit } from '../page.ts';

export const closed = { additionalProperties: false } as const;

export const Time = Type.String({ format: 'date-time', examples: ['2026-11-15T09:30:00.000Z'] });
export const Id = Type.String({ format: 'uuid', examples: ['01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b'] });
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** What each pattern of a request asks for, in words: a pattern is for programs, and nobody is shown one. */
const sentences = new Map<string, string>();

/** A pattern, with what is told where a text does not match it: a sentence that goes on after the field's name, with an example. */
export function matching(pattern: string, sentence: string): string {
  sentences.set(pattern, sentence);
  return pattern;
}

export const sentenceOfPattern = (pattern: string): string | undefined => sentences.get(pattern);

/** One line of any script, with something to see in it. */
export const oneLine = matching(
  '^[^\\p{C}]*[^\\p{C}\\s][^\\p{C}]*$',
  'must be one line of text with at least one visible character, such as `web-1`',
);

/** The same over the wire; in the code, the id of one kind of thing alone. */
export const idOf = <Kind extends string>() => Type.Unsafe<Kind>({ ...Id });
export const idParams = <Kind extends string>() => Type.Object({ id: idOf<Kind>() }, closed);

/** The query parameters of every list. */
export const PageQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: pageLimit.most,
        description: `How many; ${pageLimit.standard} if not said.`,
      }),
    ),
    cursor: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: '`nextCursor` of the page before.' }),
    ),
  },
  closed,
);

/** The query parameters of every stream. */
export const StreamQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        maxLength: 20,
        description: 'Begin after this position, as `Last-Event-ID` does.',
        examples: ['42'],
      }),
    ),
    ticket: Type.Optional(
      Type.String({ maxLength: 100, description: 'From `POST /auth/stream-ticket`, instead of the header.' }),
    ),
  },
  closed,
);

/** How a stream is described; it is written past the serialiser. */
export function streamAnswer(description: string) {
  return { description, content: { 'text/event-stream': { schema: Type.String() } } };
}
