/** What goes over the wire for sign-in by OpenID Connect. */
import Type from 'typebox';
import { closed, matching, nullable, Time } from '../../../http/schemas.ts';

// A path of this host: two slashes, or one and a backslash, would name another one to a browser.
const ReturnTo = Type.String({
  pattern: matching(
    '^/(?![/\\\\])[!#-;=?-Z_a-z~%\\[\\]]*$',
    'must be a path of this address that begins with one slash, such as `/projects`',
  ),
  maxLength: 500,
  description: 'Where the browser is sent afterwards: a path of this address. `/` if not said.',
  examples: ['/projects'],
});

export const BeginQuery = Type.Object({ returnTo: Type.Optional(ReturnTo) }, closed);

export const BeginBody = Type.Object(
  {
    returnTo: Type.Optional(ReturnTo),
    invitation: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'The token of an invitation: whoever it was sent to joins by signing in. For somebody new it counts where the provider names that address.',
        examples: ['invitation_q1Zb…'],
      }),
    ),
  },
  { ...closed, title: 'OidcBeginRequest' },
);

export const LinkBody = Type.Object(
  { returnTo: Type.Optional(ReturnTo) },
  { ...closed, title: 'OidcLinkRequest' },
);

/** Providers add parameters of their own, which are not looked at. */
export const CallbackQuery = Type.Object(
  {
    code: Type.Optional(Type.String({ maxLength: 4096, description: 'From the provider; works once.' })),
    state: Type.Optional(Type.String({ maxLength: 200, description: 'What the sign-in was begun with.' })),
    iss: Type.Optional(Type.String({ maxLength: 500, description: 'Who answers (RFC 9207).' })),
    error: Type.Optional(Type.String({ maxLength: 200, description: 'Why the provider signed nobody in.' })),
  },
  { additionalProperties: Type.String({ maxLength: 4096 }), maxProperties: 20 },
);

export const OidcAnswer = Type.Object(
  {
    enabled: Type.Boolean(),
    name: nullable(Type.String({ description: 'What to call it on a button.', examples: ['Example SSO'] })),
  },
  { title: 'Oidc' },
);

export const AddressAnswer = Type.Object(
  {
    url: Type.String({
      description: 'Where to send this browser: it has got a cookie that it must come back with.',
      examples: ['https://id.example.com/authorize?…'],
    }),
  },
  { title: 'OidcAddress' },
);

export const LinkAnswer = Type.Object(
  {
    linked: nullable(
      Type.Object(
        {
          issuer: Type.String({ examples: ['https://id.example.com'] }),
          email: nullable(
            Type.String({ description: 'As the provider has it.', examples: ['ada@example.com'] }),
          ),
          isCurrent: Type.Boolean({ description: 'Whether it is the provider that is set up now.' }),
          isOnlyWayIn: Type.Boolean({ description: 'The account has no password: it cannot be unlinked.' }),
          createdAt: Time,
          lastUsedAt: Time,
        },
        { title: 'OidcIdentity' },
      ),
    ),
  },
  { title: 'OidcLink' },
);
