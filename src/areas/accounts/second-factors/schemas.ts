/** What goes over the wire of second factors. */
import Type from 'typebox';
import { closed, Id, matching, nullable, oneLine, Time } from '../../../http/schemas.ts';
import { passwordLength } from '../passwords.ts';
import { RefreshTokenIn } from '../schemas.ts';
import { methods } from './proof.ts';

const Code = Type.String({
  pattern: matching('^[0-9]{6}$', 'must be six digits, such as `493027`'),
  maxLength: 6,
  description: 'Six digits, from the authenticator app.',
  examples: ['493027'],
});
const RecoveryCode = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Case, spaces and dashes do not matter.',
  examples: ['k3vx-7q2m-pdrz-w4ta'],
});
const ChallengeToken = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'As it was given.',
  examples: ['challenge_q1Zb…'],
});
const base64Url = (maxLength: number, description: string) =>
  Type.String({
    maxLength,
    pattern: matching('^[A-Za-z0-9_-]+$', 'must be bytes in base64url, such as `AQID`'),
    contentEncoding: 'base64url',
    description,
    examples: ['AQID'],
  });

/** None are asked for, and none are looked at. Closed: who completes a sign-in has no session yet, and little is read of them. */
const Extensions = Type.Optional(
  Type.Object(
    {
      appid: Type.Optional(Type.Boolean()),
      credProps: Type.Optional(Type.Object({ rk: Type.Optional(Type.Boolean()) }, closed)),
    },
    { ...closed, description: 'Not looked at.', examples: [{}] },
  ),
);
const Attachment = Type.Optional(
  Type.Enum(['platform', 'cross-platform'], { description: 'Not looked at.' }),
);
const credentialOf = <T extends Type.TProperties>(response: T, example: object, title: string) =>
  Type.Object(
    {
      id: base64Url(1400, 'Of the credential.'),
      rawId: base64Url(1400, 'The same.'),
      type: Type.Literal('public-key'),
      response: Type.Object(response, closed),
      authenticatorAttachment: Attachment,
      clientExtensionResults: Extensions,
    },
    {
      ...closed,
      title,
      description: '`toJSON()` of what the browser gave.',
      examples: [{ id: 'AQID', rawId: 'AQID', type: 'public-key', response: example }],
    },
  );

const Assertion = credentialOf(
  {
    clientDataJSON: base64Url(1400, 'What the browser says that it asked for.'),
    authenticatorData: base64Url(600, 'What the authenticator says of itself.'),
    signature: base64Url(700, 'Over both.'),
    userHandle: Type.Optional(base64Url(100, 'Whom the passkey was made for.')),
  },
  { clientDataJSON: 'AQID', authenticatorData: 'AQID', signature: 'AQID' },
  'PasskeyAssertion',
);
const Attestation = credentialOf(
  {
    clientDataJSON: base64Url(4096, 'What the browser says that it asked for.'),
    attestationObject: base64Url(16384, 'The new key, in CBOR.'),
    authenticatorData: Type.Optional(base64Url(4096, 'Part of the same.')),
    publicKey: Type.Optional(base64Url(4096, 'Part of the same.')),
    publicKeyAlgorithm: Type.Optional(Type.Integer({ description: 'Part of the same.', examples: [-7] })),
    transports: Type.Optional(
      Type.Array(Type.String({ maxLength: 32, examples: ['internal'] }), {
        maxItems: 10,
        examples: [['internal']],
      }),
    ),
  },
  { clientDataJSON: 'AQID', attestationObject: 'AQID' },
  'PasskeyAttestation',
);

const totp = { method: Type.Literal('totp'), code: Code };
const recoveryCode = { method: Type.Literal('recovery_code'), code: RecoveryCode };
const passkey = { method: Type.Literal('passkey'), credential: Assertion };

const step = { challenge: ChallengeToken, refreshTokenIn: RefreshTokenIn };
export const SecondFactorBody = Type.Union(
  [
    Type.Object({ ...step, ...totp }, { ...closed, title: 'TotpSignIn' }),
    Type.Object({ ...step, ...recoveryCode }, { ...closed, title: 'RecoveryCodeSignIn' }),
    Type.Object({ ...step, ...passkey }, { ...closed, title: 'PasskeySignIn' }),
  ],
  { title: 'SecondFactorRequest' },
);

export const ConfirmBody = Type.Union(
  [
    Type.Object(
      {
        password: Type.String({
          minLength: 1,
          maxLength: passwordLength.most,
          examples: ['correct horse battery staple'],
        }),
      },
      { ...closed, title: 'PasswordProof' },
    ),
    Type.Object(totp, { ...closed, title: 'TotpProof' }),
    Type.Object(recoveryCode, { ...closed, title: 'RecoveryCodeProof' }),
    Type.Object({ ...passkey, challenge: ChallengeToken }, { ...closed, title: 'PasskeyProof' }),
  ],
  { title: 'ConfirmRequest' },
);

export const TotpCodeBody = Type.Object({ code: Code }, { ...closed, title: 'TotpCodeRequest' });

const PasskeyName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: oneLine,
  description: 'To know it by.',
  examples: ['Laptop'],
});
export const PasskeyBody = Type.Object(
  { name: PasskeyName, challenge: ChallengeToken, credential: Attestation },
  { ...closed, title: 'PasskeyRequest' },
);
export const PasskeyNameBody = Type.Object({ name: PasskeyName }, { ...closed, title: 'PasskeyChange' });

const Descriptor = Type.Object(
  { id: Type.String(), type: Type.Literal('public-key'), transports: Type.Array(Type.String()) },
  { title: 'PasskeyDescriptor' },
);
const AssertionOptions = Type.Object(
  {
    challenge: Type.String(),
    rpId: Type.String({ examples: ['slipway.example.com'] }),
    allowCredentials: Type.Array(Descriptor),
    userVerification: Type.Literal('preferred'),
    timeout: Type.Integer({ description: 'In milliseconds.' }),
  },
  {
    title: 'PasskeyAssertionOptions',
    description: 'For `PublicKeyCredential.parseRequestOptionsFromJSON()` and `navigator.credentials.get()`.',
  },
);

export const ChallengeAnswer = Type.Object(
  {
    challenge: Type.String({ examples: ['challenge_q1Zb…'] }),
    methods: Type.Array(Type.Enum(methods), {
      description: 'What can be proven with; none where the account has no second factor.',
      examples: [['totp', 'recovery_code']],
    }),
    passkey: Type.Optional(AssertionOptions),
    expiresAt: Time,
  },
  { title: 'SecondFactorChallenge' },
);
export const SecondFactorAnswer = Type.Object(
  { secondFactor: ChallengeAnswer },
  { title: 'SecondFactorNeeded', description: 'The password is right, and a second factor is asked for.' },
);

export const TotpAnswer = Type.Object(
  {
    secret: Type.String({ description: 'In base 32, to be typed in.', examples: ['JBSWY3DPEHPK3PXP…'] }),
    url: Type.String({
      description: 'For a QR code that the app reads.',
      examples: ['otpauth://totp/Slipway%3Aada%40example.com?secret=…'],
    }),
  },
  { title: 'TotpSecret' },
);

const RecoveryCodes = Type.Array(Type.String({ examples: ['k3vx-7q2m-pdrz-w4ta'] }), {
  description:
    'Ten, shown this once: each works once in place of a second factor. Keep them where the phone is not.',
});
const given = {
  recoveryCodes: Type.Optional({
    ...RecoveryCodes,
    description:
      'Only with the first factor of the account. Ten, shown this once: each works once in place of a second factor.',
  }),
};
export const RecoveryCodesAnswer = Type.Object({ recoveryCodes: RecoveryCodes }, { title: 'RecoveryCodes' });
export const TotpOnAnswer = Type.Object(given, { title: 'TotpTurnedOn' });

const passkeyFields = {
  id: Id,
  name: Type.String({ examples: ['Laptop'] }),
  createdAt: Time,
  lastUsedAt: nullable(Time),
};
export const PasskeyAnswer = Type.Object(passkeyFields, { title: 'Passkey' });
export const NewPasskeyAnswer = Type.Object({ ...passkeyFields, ...given }, { title: 'NewPasskey' });

export const AttestationOptionsAnswer = Type.Object(
  {
    challenge: Type.String({ examples: ['challenge_q1Zb…'] }),
    options: Type.Object(
      {
        rp: Type.Object({ id: Type.String({ examples: ['slipway.example.com'] }), name: Type.String() }),
        user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
        challenge: Type.String(),
        pubKeyCredParams: Type.Array(Type.Object({ type: Type.Literal('public-key'), alg: Type.Integer() })),
        timeout: Type.Integer({ description: 'In milliseconds.' }),
        excludeCredentials: Type.Array(Descriptor),
        authenticatorSelection: Type.Object({
          residentKey: Type.Literal('preferred'),
          userVerification: Type.Literal('preferred'),
        }),
        attestation: Type.Literal('none'),
      },
      {
        title: 'PasskeyAttestationOptions',
        description:
          'For `PublicKeyCredential.parseCreationOptionsFromJSON()` and `navigator.credentials.create()`.',
      },
    ),
    expiresAt: Time,
  },
  { title: 'PasskeyChallenge' },
);

export const SecondFactorsAnswer = Type.Object(
  {
    totp: nullable(Type.Object({ since: Time }, { title: 'TotpFactor' })),
    passkeys: Type.Array(PasskeyAnswer),
    recoveryCodes: nullable(
      Type.Object(
        { left: Type.Integer({ description: 'How many were not used yet.', examples: [10] }), madeAt: Time },
        { title: 'RecoveryCodesLeft' },
      ),
    ),
  },
  { title: 'SecondFactors' },
);
