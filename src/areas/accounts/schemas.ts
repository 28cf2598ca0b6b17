/** What goes over the wire in this area. */
import Type from 'typebox';
import { closed, Id, matching, nullable, Time } from '../../http/schemas.ts';
import { passwordLength } from './passwords.ts';

// One @, a dot in the domain, no white space or control characters: what a mail server will make of it, it says.
export const Email = Type.String({
  pattern: matching(
    '^[^\\s@<>"(),:;\\\\\\u0000-\\u001f]+@[^\\s@<>"(),:;\\\\\\u0000-\\u001f]+\\.[^\\s@<>"(),:;\\\\.\\u0000-\\u001f]+$',
    'must be an e-mail address alone, such as `ada@example.com`',
  ),
  maxLength: 254,
  description: 'An e-mail address; case does not matter.',
  examples: ['ada@example.com'],
});

const Password = Type.String({
  minLength: passwordLength.least,
  maxLength: passwordLength.most,
  description: '10 to 128 characters, not among the most common passwords.',
  examples: ['correct horse battery staple'],
});

export const RefreshTokenIn = Type.Optional(
  Type.Enum(['cookie', 'body'], {
    description:
      'Where the refresh token goes: an HttpOnly cookie (default), or the body for clients without cookies.',
  }),
);

export const RegisterBody = Type.Object(
  {
    email: Email,
    password: Password,
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, examples: ['Ada Lovelace'] })),
    invitation: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'The token of an invitation to this address, also where registration is closed. You are in that workspace once the address is confirmed, and get none of your own.',
        examples: ['invitation_q1Zb…'],
      }),
    ),
  },
  { ...closed, title: 'RegisterRequest' },
);

export const RegisterAnswer = Type.Object(
  {
    email: Type.String({ examples: ['ada@example.com'] }),
    otpRequired: Type.Literal(true),
    otpExpiresAt: Time,
  },
  { title: 'RegisterAnswer', description: 'The same for every address, whether it has an account or not.' },
);

export const VerifyOtpBody = Type.Object(
  {
    email: Email,
    code: Type.String({
      pattern: matching('^[0-9]{6}$', 'must be six digits, such as `493027`'),
      maxLength: 6,
      description: 'Six digits, from the mail.',
      examples: ['493027'],
    }),
    refreshTokenIn: RefreshTokenIn,
  },
  { ...closed, title: 'VerifyOtpRequest' },
);

export const EmailBody = Type.Object({ email: Email }, { ...closed, title: 'EmailRequest' });

export const LoginBody = Type.Object(
  {
    email: Email,
    password: Type.String({
      minLength: 1,
      maxLength: passwordLength.most,
      examples: ['correct horse battery staple'],
    }),
    refreshTokenIn: RefreshTokenIn,
  },
  { ...closed, title: 'LoginRequest' },
);

export const RefreshBody = Type.Object(
  {
    refreshToken: Type.Optional(
      Type.String({
        maxLength: 256,
        description: 'Where it was given in a body; else the cookie is used.',
        examples: ['refresh_q1Zb…'],
      }),
    ),
  },
  { ...closed, title: 'RefreshRequest' },
);

export const ResetPasswordBody = Type.Object(
  {
    token: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'From the link in the mail.',
      examples: ['reset_q1Zb…'],
    }),
    password: Password,
  },
  { ...closed, title: 'ResetPasswordRequest' },
);

const Workspace = Type.Object(
  {
    id: Id,
    name: Type.String({ examples: ['Ada Lovelace'] }),
    role: Type.Enum(['owner', 'admin', 'member', 'viewer'], {
      description: 'What the account may do in it.',
    }),
  },
  { title: 'WorkspaceMembership' },
);

export const UserAnswer = Type.Object(
  {
    id: Id,
    email: Type.String({ examples: ['ada@example.com'] }),
    name: nullable(Type.String({ examples: ['Ada Lovelace'] })),
    emailVerifiedAt: Time,
    createdAt: Time,
    workspaces: Type.Array(Workspace),
  },
  { title: 'User' },
);

export const SignInAnswer = Type.Object(
  {
    accessToken: Type.String({ description: 'A JWT, for the header `Authorization: Bearer`.' }),
    tokenType: Type.Literal('Bearer'),
    expiresIn: Type.Integer({ description: 'Seconds until the access token expires.', examples: [900] }),
    refreshToken: Type.Optional(Type.String({ description: 'Only where it was asked for in the body.' })),
    user: UserAnswer,
  },
  { title: 'SignIn' },
);

export const StreamTicketAnswer = Type.Object(
  { ticket: Type.String({ description: 'For `?ticket=` of a stream; works once.' }), expiresAt: Time },
  { title: 'StreamTicket' },
);

const SessionAnswer = Type.Object(
  {
    id: Id,
    current: Type.Boolean({ description: 'Whether this request was made with it.' }),
    device: Type.String({ description: 'In words, by its user agent.', examples: ['Firefox on Linux'] }),
    userAgent: nullable(Type.String({ examples: ['curl/8.5.0'] })),
    ip: nullable(Type.String({ examples: ['192.0.2.17'] })),
    createdAt: Time,
    lastUsedAt: Time,
    expiresAt: Time,
  },
  { title: 'Session' },
);

export const SessionsAnswer = Type.Object(
  { items: Type.Array(SessionAnswer), nextCursor: nullable(Type.String()) },
  { title: 'SessionList' },
);
