/** The pieces that schemas of all areas are made of. */
import Type, { type TUnion } from 'typebox';
import { pageLimit } from '../page.ts';
import { Id } from '../wire.ts';

export { FaultAnswer, FaultCode, Id, nullable, Time } from '../wire.ts';

export const closed = { additionalProperties: false } as const;

/** What each pattern of a request asks for, in words: a pattern is for programs, and nobody is shown one. */
const sentences = new Map<string, string>();

/** A pattern, with what is told where a text does not match it: a sentence that goes on after the field's name, with an example. */
export function matching(pattern: string, sentence: string): string {
  const known = sentences.get(pattern) ?? sentence;
  // The one who sends a code from a mail would be told of the code of an app, say.
  if (known !== sentence) throw new Error(`${pattern} is told in two ways: «${known}», «${sentence}»`);
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
export const idParams = <Kind extends string>() =>
  Type.Object({ id: { ...idOf<Kind>(), description: 'Of what the path names before it.' } }, closed);

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

export const keyFormat = { minLength: 1, maxLength: 200, pattern: '^[\\x21-\\x7e]+$' } as const;

/**
 * How a stream is described; it is written past the serialiser. In OpenAPI 3.1 a media type has no word for «many of
 * these», and what generates clients takes the schema of a stream for that of the data of each event.
 */
export function streamAnswers(event: TUnion, isFeed: boolean) {
  const hasEnd = event.anyOf.some((each) => Object(each).properties?.kind?.const === 'end');
  return {
    200: { description: 'Events, as they come.', content: { 'text/event-stream': { schema: event } } },
    // A browser that comes back after the end is told to stay away.
    ...(isFeed &&
      hasEnd && { 204: Type.Null({ description: 'It is over, and there is nothing after your place.' }) }),
  };
}
