/** A member is emptied, for an update or a reboot say, and taken back. */
import { minute } from '../../clock.ts';
import { setAvailability } from '../../engine/swarm/nodes.ts';
import type { ServerId } from '../../ids.ts';
import { defineOperation, type OperationKind, type StepContext } from '../../operations/definition.ts';
import { type Availability, availabilityKind, type ClustersContext } from './clusters.ts';
import { emptyMember } from './empty-member.ts';
import { recordLook } from './look.ts';
import { managerOf, memberRetry } from './members.ts';
import * as queries from './queries.ts';
import { type ClusterInput, readClusterInput } from './start-operation.ts';

export interface AvailabilityInput extends ClusterInput {
  readonly serverId: ServerId;
  readonly availability: Availability;
  /** For the undo. */
  readonly before: Availability;
}

function readInput(stored: unknown): AvailabilityInput {
  const { serverId, availability, before } = Object(stored);
  const read = (value: unknown): Availability => (value === 'drain' ? 'drain' : 'active');
  return {
    ...readClusterInput(stored),
    serverId: String(serverId) as ServerId,
    availability: read(availability),
    before: read(before),
  };
}

export function availabilityOperation(ctx: ClustersContext): OperationKind {
  const onManager = async ({ clusterId, serverId }: AvailabilityInput, context: StepContext) => {
    const rows = await queries.listMembers(ctx.db, context.workspaceId, [clusterId]);
    const { nodeId = null, name = '' } = rows.find((each) => each.serverId === serverId) ?? {};
    return { manager: await managerOf(ctx, context, rows), nodeId, name, rows };
  };
  return defineOperation<AvailabilityInput>({
    kind: availabilityKind,
    readInput,
    steps: [
      {
        name: 'set',
        deadlineMs: 20 * minute,
        retry: memberRetry,
        run: async (input, context) => {
          const { manager, nodeId, name, rows } = await onManager(input, context);
          if (nodeId === null) return undefined;
          if (input.availability === 'drain')
            await emptyMember(ctx, context, manager, { nodeId, name }, rows);
          else await setAvailability(manager, nodeId, 'active');
          return undefined;
        },
        undo: async (input, context) => {
          const { manager, nodeId } = await onManager(input, context);
          if (nodeId !== null) await setAvailability(manager, nodeId, input.before);
        },
      },
      {
        name: 'look',
        deadlineMs: minute,
        undo: { none: 'Looking changes nothing.' },
        run: async (input, context) => {
          const key = { workspaceId: context.workspaceId, id: input.clusterId };
          await recordLook(ctx, key, context.signal);
          return undefined;
        },
      },
    ],
  });
}
