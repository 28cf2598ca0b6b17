/**
 * Ways for people to the services of an environment, which answer on its network alone. Nothing is opened on the server
 * for it: a program there connects to the service and speaks over our SSH connection, for as long as the tunnel lasts.
 */
import { hour } from '../../clock.ts';
import { addressIn } from '../../engine/placement.ts';
import { Fault } from '../../fault.ts';
import type { EnvironmentId, ServerId, ServiceId, WorkspaceId } from '../../ids.ts';
import { connectSocket } from '../../remote/relay/connect-socket.ts';
import type { RemoteStream } from '../../remote/remote.ts';
import { placementsOf } from '../environments/placement/placements.ts';
import { connectTo } from '../servers/connection/connect-server.ts';
import { kinds } from './kinds/kinds.ts';
import { notStarted, requireService } from './read-credentials.ts';
import type { ServiceRequestsContext } from './services.ts';

/** Each holds a channel of the SSH connection that deployments use, too. */
const mostOfServer = 4;
const comeBackSeconds = 30;
const longestMs = 12 * hour;

export class ServiceTunnels {
  readonly #ctx: ServiceRequestsContext;
  readonly #open = new Map<ServerId, number>();
  readonly #ending = new AbortController();

  constructor(ctx: ServiceRequestsContext) {
    this.#ctx = ctx;
  }

  /** Connected, or refused with the reason. The signal ends it. */
  async open(
    workspaceId: WorkspaceId,
    environmentId: EnvironmentId,
    id: ServiceId,
    signal: AbortSignal,
  ): Promise<RemoteStream> {
    const { db, servers } = this.#ctx;
    const service = await requireService(db, workspaceId, environmentId, id);
    const { serverId, slot, kind, name } = service;
    if (serverId === null) throw notStarted(service);
    const places = await placementsOf(db, workspaceId, environmentId);
    const place = places.find((each) => each.serverId === serverId);
    if (!place) throw notStarted(service);
    if (this.#ending.signal.aborted) throw new Fault('shutting_down', 'The service is stopping.');
    const open = this.#open.get(serverId) ?? 0;
    if (open >= mostOfServer) throw tooMany();
    this.#open.set(serverId, open + 1);
    const release = () => this.#open.set(serverId, (this.#open.get(serverId) ?? 1) - 1);
    try {
      const { remote } = await connectTo(servers, workspaceId, serverId);
      const to = { host: addressIn(place, slot), port: kinds[kind].port };
      const ends = AbortSignal.any([signal, this.#ending.signal]);
      const stream = await connectSocket(remote, to, { signal: ends, timeoutMs: longestMs });
      stream.ended.then(release, release);
      return stream;
    } catch (error) {
      release();
      if (!(error instanceof Fault) || error.code !== 'remote_failed') throw error;
      throw new Fault('database_down', `The service ${name} does not take connections.`, {
        hint: 'Look at it with GET /api/v1/environments/:id/services; a deployment starts it again.',
        ...(error.evidence !== undefined && { evidence: error.evidence }),
      });
    }
  }

  /** Ends all, so that the server can close. */
  end(): void {
    this.#ending.abort(new Fault('shutting_down', 'The service is stopping.'));
  }
}

function tooMany(): Fault {
  return new Fault('rate_limited', `At most ${mostOfServer} tunnels may lead to a server at once.`, {
    hint: 'Close another one first.',
    retryAfterSeconds: comeBackSeconds,
  });
}
