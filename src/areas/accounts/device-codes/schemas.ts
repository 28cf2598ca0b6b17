/** What goes over the wire of device codes. */
import Type from 'typebox';
import { closed, nullable, oneLine, Time } from '../../../http/schemas.ts';

const DeviceCode = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'The secret of the program that waits; nobody else is shown it.',
  examples: ['device_code_q1Zb…'],
});

const UserCode = Type.String({
  minLength: 1,
  maxLength: 40,
  description: 'What the program shows; case, blanks and hyphens do not matter.',
  examples: ['WDJB-MJHT'],
});

const Interval = Type.Integer({
  description: 'Seconds to wait before each look; sooner is `slow_down`.',
  examples: [2],
});

export const DeviceCodeBody = Type.Object(
  {
    deviceName: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: oneLine,
      description: 'What the person knows the machine by: its host name.',
      examples: ['adas-laptop'],
    }),
  },
  { ...closed, title: 'DeviceCodeRequest' },
);

export const DeviceCodeAnswer = Type.Object(
  {
    deviceCode: DeviceCode,
    userCode: Type.String({ description: 'For the person, to type.', examples: ['WDJB-MJHT'] }),
    verificationUri: Type.String({
      description: 'Where the person types it.',
      examples: ['https://slipway.example.com/device'],
    }),
    expiresIn: Type.Integer({ description: 'Seconds until both codes expire.', examples: [600] }),
    interval: Interval,
  },
  { title: 'DeviceCode' },
);

export const DeviceLoginBody = Type.Object(
  { deviceCode: DeviceCode },
  { ...closed, title: 'DeviceLoginRequest' },
);

export const DevicePendingAnswer = Type.Object({ interval: Interval }, { title: 'DeviceLoginPending' });

export const UserCodeBody = Type.Object({ userCode: UserCode }, { ...closed, title: 'UserCodeRequest' });

export const DeviceRequestAnswer = Type.Object(
  {
    deviceName: Type.String({ description: 'As the program says.', examples: ['adas-laptop'] }),
    userAgent: nullable(
      Type.String({ description: 'As the program says.', examples: ['slipway-cli/1.0.0'] }),
    ),
    ip: Type.String({ description: 'From where it asked.', examples: ['203.0.113.7'] }),
    sameNetwork: Type.Boolean({ description: 'Whether that is the network that you ask from now.' }),
    requestedAt: Time,
    expiresAt: Time,
  },
  { title: 'DeviceRequest' },
);

export const DeviceAnswerBody = Type.Object(
  { userCode: UserCode, allow: Type.Boolean({ examples: [true] }) },
  { ...closed, title: 'DeviceAnswerRequest' },
);
