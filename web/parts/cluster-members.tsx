/** The servers of a cluster as its managers see them, and what can be done with each. */
import { useState } from 'preact/hooks';
import type { Cluster, ClusterMember } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { whyNot } from '../data/session.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Status } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';

export function ClusterStatus({ cluster: { status, members } }: { readonly cluster: Cluster }) {
  const isGoing = members.length > 0 && members.every(({ state }) => state === 'leaving');
  return isGoing ? <Status status="leaving" text="being deleted" /> : <Status status={status} />;
}

interface MembersProps {
  readonly cluster: Cluster;
  /** Why nothing can be changed at this moment. */
  readonly why: string | undefined;
}

export function ClusterMembers({ cluster: { id, members }, why }: MembersProps) {
  const [asked, ask] = useState<{ readonly what: 'drain' | 'remove'; readonly member: ClusterMember }>();
  const activate = useAction((serverId: string) => api.activateClusterMember({ id, serverId }));
  return (
    <>
      {activate.failure && <FailureNotice failure={activate.failure} />}
      <Table label="Members" heads={['Server', 'State', 'Role', 'Address', '']}>
        {members.map((member) => (
          <tr key={member.serverId}>
            <td>
              <a href={`/servers/${member.serverId}`}>{member.name}</a>
            </td>
            <td>
              <MemberStatus member={member} />
            </td>
            <td>{member.isLeader ? 'manager, leader' : (member.role ?? 'none yet')}</td>
            <td>{member.address ?? <span class="fine">not known yet</span>}</td>
            <td class="end">
              {member.availability === 'drain' ? (
                <Button
                  kind="quiet"
                  why={why}
                  label={`Activate ${member.name}`}
                  onPress={() => activate.run(member.serverId)}
                >
                  Activate
                </Button>
              ) : (
                <Button
                  kind="quiet"
                  why={why}
                  label={`Drain ${member.name}`}
                  onPress={() => ask({ what: 'drain', member })}
                >
                  Drain
                </Button>
              )}
              <Button
                kind="quiet"
                why={why ?? (members.length === 1 ? 'It is the last one: delete the cluster.' : undefined)}
                label={`Remove ${member.name}`}
                onPress={() => ask({ what: 'remove', member })}
              >
                Remove
              </Button>
            </td>
          </tr>
        ))}
      </Table>
      {asked?.what === 'drain' && (
        <Confirm
          title={`Drain ${asked.member.name}?`}
          verb="Drain it"
          onConfirm={() => api.drainClusterMember({ id, serverId: asked.member.serverId })}
          onClose={() => ask(undefined)}
        >
          <p>
            What runs there is run on the other servers, and nothing is placed on it until you activate it:
            for an update, or a reboot.
          </p>
        </Confirm>
      )}
      {asked?.what === 'remove' && (
        <RemoveMember clusterId={id} member={asked.member} onClose={() => ask(undefined)} />
      )}
    </>
  );
}

function MemberStatus({ member: { state, availability, downSince } }: { readonly member: ClusterMember }) {
  return (
    <>
      <Status status={state} />{' '}
      {downSince && (
        <span class="fine">
          noticed <Time at={downSince} />
        </span>
      )}
      {availability === 'drain' && <Status status="drain" text="drained" />}
    </>
  );
}

interface RemoveProps {
  readonly clusterId: string;
  readonly member: ClusterMember;
  readonly onClose: () => void;
}

function RemoveMember({ clusterId: id, member: { serverId, name, state }, onClose }: RemoveProps) {
  const [lost, setLost] = useState(false);
  return (
    <Confirm
      title={`Remove ${name}?`}
      verb="Remove it"
      name={name}
      isDangerous
      onConfirm={() => api.deleteClusterMember({ id, serverId, lost })}
      onClose={onClose}
    >
      <p>
        It is emptied, replaced as a manager, leaves the swarm, and is a server of its own again, as it was
        before it joined.
      </p>
      {state === 'down' && (
        <Choice text="It is gone for good: only forget it" isChosen={lost} onChoice={setLost} />
      )}
    </Confirm>
  );
}

interface ChoiceProps {
  readonly text: string;
  readonly isChosen: boolean;
  readonly onChoice: (isChosen: boolean) => void;
}

export function Choice({ text, isChosen, onChoice }: ChoiceProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={isChosen} onChange={(event) => onChoice(event.currentTarget.checked)} />
      {text}
    </label>
  );
}

/** Why nothing may be pressed: by one's role, or because of what is done now. */
export function whyNotNow(isBusy: boolean): string | undefined {
  return whyNot('manage') ?? (isBusy ? 'The cluster is being changed; wait for its end.' : undefined);
}
