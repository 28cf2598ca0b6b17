/** The S3 by the lab's control: what lies there, what it is to do wrong, and damage to what it keeps. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { addRoutes, parse } from './control/input.ts';
import type { LabS3 } from './s3.ts';
import { S3Fault } from './s3-faults.ts';

const closed = { additionalProperties: false };
const Damage = Type.Object({ key: Type.String(), at: Type.Optional(Type.Integer({ minimum: 0 })) }, closed);
const Cut = Type.Object({ key: Type.String(), bytes: Type.Integer({ minimum: 0 }) }, closed);

export function s3Routes(app: FastifyInstance, s3: LabS3): void {
  addRoutes(app, (scope) => {
    scope.get('/s3', () => ({
      objects: s3.objects.list().map(({ key, bytes, etag }) => ({ key, bytes, etag })),
      uploads: s3.objects.uploads().map(({ key, id, parts }) => ({ key, id, parts: parts.size })),
      faults: s3.faults.list(),
    }));

    scope.put('/s3/faults', ({ body }) => {
      s3.faults.set(parse(S3Fault, body, { kind: 'uploads', status: 503, times: 2 }));
      return { faults: s3.faults.list() };
    });

    scope.delete('/s3/faults', (_request, reply) => {
      s3.faults.clear();
      reply.code(204).send();
    });

    scope.post('/s3/objects/damage', async ({ body }) => {
      const { key, at } = parse(Damage, body, { key: 'slipway/dump', at: 100 });
      return { at: await s3.objects.damage(key, at) };
    });

    scope.post('/s3/objects/cut', async ({ body }) => {
      const { key, bytes } = parse(Cut, body, { key: 'slipway/dump', bytes: 100 });
      await s3.objects.cut(key, bytes);
      return { bytes };
    });
  });
}
