/** What goes over the wire about webhooks. */
import Type from 'typebox';
import { closed, FaultAnswer, Id, idOf, nullable, Time } from '../../http/schemas.ts';
import type { HookId } from '../../ids.ts';
import { type Reason as PushReason, reasons } from './decide.ts';

const Reason = Type.Enum(
  Object.keys(reasons).filter((key): key is PushReason => key in reasons),
  { title: 'PushReason' },
);

export const HookParams = Type.Object(
  { provider: Type.Enum(['github', 'gitlab', 'gitea', 'bitbucket']), hookId: idOf<HookId>() },
  closed,
);

export const ReceivedAnswer = Type.Object(
  {
    outcomes: Type.Array(Type.Object({ reason: Reason, message: Type.String() }), {
      description: 'What became of each push that it told of.',
    }),
  },
  { title: 'ReceivedDelivery' },
);

export const HookAnswer = Type.Object(
  {
    address: Type.String({ examples: ['https://slipway.example.com/api/v1/webhooks/git/github/…'] }),
    installed: Type.Boolean({
      description: 'Made at the provider by us. If not, paste address and secret in there.',
    }),
    problem: nullable(FaultAnswer),
    lastHeardAt: nullable(Time),
    updatedAt: Time,
  },
  { title: 'ProjectWebhook' },
);

export const NewHookAnswer = Type.Intersect(
  [
    HookAnswer,
    Type.Object({
      secret: nullable(
        Type.String({
          description: 'Shown this once: null when the request is sent again with its `Idempotency-Key`.',
          examples: ['k7Jx…'],
        }),
      ),
    }),
  ],
  { title: 'NewProjectWebhook' },
);

export const DeliveriesAnswer = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          id: Id,
          deliveryId: nullable(Type.String({ description: 'The provider’s own id.' })),
          via: Type.Enum(['webhook', 'poll']),
          event: Type.String({ examples: ['push'] }),
          branch: nullable(Type.String({ examples: ['main'] })),
          commitSha: nullable(Type.String()),
          outcome: Type.Enum(['deployed', 'ignored', 'rejected']),
          reason: Reason,
          message: Type.String(),
          environments: Type.Array(
            Type.Object({
              environmentId: Id,
              name: Type.String(),
              outcome: Type.Enum(['deployed', 'ignored']),
              reason: Reason,
            }),
          ),
          receivedAt: Time,
        },
        { title: 'WebhookDelivery' },
      ),
    ),
    nextCursor: nullable(Type.String()),
  },
  { title: 'WebhookDeliveryList' },
);
