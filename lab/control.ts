/**
 * How programs steer a running lab: one small HTTP interface. It answers this machine only: what runs on the lab's
 * servers can reach the lab's services, but must not be able to steer them.
 */
import Fastify, { type FastifyInstance } from 'fastify';
import type { LabDescription } from './description.ts';
import { BadName, type Fleet, UnknownServer } from './servers/fleet.ts';
import { isVariant, variants } from './servers/variants.ts';

export interface Steered {
  readonly fleet: Fleet;
  describe(): LabDescription;
  /** Servers came, went or changed. */
  changed(): void;
  stop(): void;
}

interface Named {
  Params: { name: string };
}

export function createControl(hostAddress: string, lab: Steered): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true });
  app.addHook('onRequest', async (request, reply) => {
    if (request.ip !== hostAddress) {
      await reply.code(403).send({ error: 'The lab is steered from the machine it runs on only.' });
    }
  });
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error instanceof UnknownServer ? 404 : error instanceof BadName ? 400 : error.statusCode;
    return reply.code(status ?? 500).send({ error: error.message });
  });
  app.get('/', async () => lab.describe());
  app.post('/down', async (_request, reply) => {
    // Answered first: the caller waits for the lab's process to end, not for this.
    reply.raw.once('finish', () => lab.stop());
    return reply.code(202).send({ stopping: true });
  });
  serverRoutes(app, lab);
  return app;
}

function serverRoutes(app: FastifyInstance, { fleet, changed }: Steered): void {
  app.post('/servers', async (request, reply) => {
    const wish = Object(request.body);
    const variant = String(wish.variant ?? 'docker');
    if (!isVariant(variant)) {
      const known = Object.keys(variants).join(', ');
      throw new BadName(`«${variant}» is no variant of server; there is: ${known}.`);
    }
    const server = await fleet.add(variant, wish.name === undefined ? undefined : String(wish.name));
    changed();
    return reply.code(201).send(server);
  });
  app.delete<Named>('/servers/:name', async (request, reply) => {
    await fleet.remove(request.params.name);
    changed();
    return reply.code(204).send();
  });
  app.post<Named>('/servers/:name/reset', async (request) => {
    const server = await fleet.reset(request.params.name, Object(request.body).newHostKeys === true);
    changed();
    return server;
  });
  for (const [path, isCut] of [
    ['cut', true],
    ['heal', false],
  ] as const) {
    app.post<Named>(`/servers/:name/${path}`, async (request) => {
      await fleet.get(request.params.name).cut(isCut);
      changed();
      return { isCut };
    });
  }
  app.post<Named>('/servers/:name/console', async (request) => {
    const { argv } = Object(request.body);
    if (!Array.isArray(argv) || argv.length === 0)
      throw new BadName('`argv` must be a list of at least one text.');
    return fleet.get(request.params.name).console(...argv.map(String));
  });
}
