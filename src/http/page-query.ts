import Type from 'typebox';
import { pageLimit } from '../page.ts';

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
  { additionalProperties: false },
);
