/**
 * A webhook of the user's own: JSON for programs, signed, so that the receiver knows whose it is and that it is fresh.
 * `X-Slipway-Delivery` is the same over all tries.
 */
import { createHmac, randomBytes } from 'node:crypto';
import Type from 'typebox';
import { Secret } from '../../secret.ts';
import { defineConnector } from './connector.ts';
import { postJson } from './post-json.ts';
import { receiverUrl, shownUrl } from './webhook-url.ts';

export const webhook = defineConnector({
  type: 'webhook',
  Config: Type.Object(
    {
      url: Type.String({ minLength: 1, maxLength: 2_000, examples: ['https://example.com/hooks/slipway'] }),
      secret: Type.Optional(
        Type.String({
          minLength: 16,
          maxLength: 200,
          description: 'What deliveries are signed with. Where it is left out one is made, and shown once.',
          examples: ['whsec_5Zr0ExampleExampleExample'],
        }),
      ),
    },
    { additionalProperties: false, title: 'WebhookConfig' },
  ),
  canTellRepeats: true,
  check: ({ url, secret }, { allowPrivate, before }) => {
    const old: unknown = Object(before).secret;
    const kept = secret ?? (typeof old === 'string' ? old : newSecret());
    return { url: receiverUrl(url, 'url', allowPrivate), secret: kept };
  },
  target: ({ url }) => shownUrl(url),
  secrets: ({ url, secret = '' }) => [url, secret, new URL(url).pathname].map((each) => new Secret(each)),
  madeSecret: ({ secret = '' }) => secret,
  send: ({ url, secret = '' }, message, transports, signal) => {
    const body = JSON.stringify(message.payload);
    const headers = {
      'x-slipway-event': message.event,
      'x-slipway-delivery': message.id,
      'idempotency-key': message.id,
      'x-slipway-signature': signature(secret, body, transports.now()),
    };
    return postJson(transports, { url, body, headers }, signal);
  },
});

/** `t` is the time of this try, in seconds; `v1` is over `t`, a dot, and the body as it is sent. */
export function signature(secret: string, body: string, now: Date): string {
  const t = Math.floor(now.getTime() / 1000);
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
}

function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64url')}`;
}
