/** Members and their roles. */
import { useState } from 'preact/hooks';
import { all, type Member } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { gathered } from '../data/lists.ts';
import { useResource } from '../data/resource.ts';
import { signedIn, whyNot } from '../data/session.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Status } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { Invitations } from './invitations.tsx';
import { MemberAccess } from './member-access.tsx';
import { type Role, reachOf, roleOf, roles } from './roles.ts';

export function Members() {
  const id = signedIn.value?.workspace.id ?? '';
  const [removing, remove] = useState<Member>();
  const [limiting, limit] = useState<Member>();
  const members = useResource(`members ${id}`, (options) =>
    gathered(all((page) => api.listMembers({ ...page, id, limit: 100 }, options))),
  );
  const change = useAction(async (accountId: string, role: Role) => {
    await api.updateMember({ id, accountId, body: { role } });
    await members.reload();
  });
  return (
    <section class="stack" aria-label="Members">
      {change.failure && <FailureNotice failure={change.failure} />}
      <Await of={members}>
        {(list) => (
          <Table label="Members and roles" heads={['Person', 'Role', 'Second factor', '']}>
            {list.map((member) => (
              <tr key={member.account.id}>
                <td>
                  {member.account.name ?? member.account.email}
                  <div class="fine">
                    {member.account.name && `${member.account.email}, `}
                    joined <Time at={member.joinedAt} />
                  </div>
                </td>
                <td>
                  <select
                    class="input"
                    aria-label={`Role of ${member.account.email}`}
                    value={member.role}
                    disabled={whyNot('manage') !== undefined}
                    title={whyNot('manage')}
                    onChange={(event) =>
                      void change.run(member.account.id, roleOf(event.currentTarget.value))
                    }
                  >
                    {roles.map(({ value, text }) => (
                      <option key={value} value={value} selected={value === member.role}>
                        {text}
                      </option>
                    ))}
                  </select>
                  {member.projects && <span class="fine">{reachOf(member.projects)}</span>}
                </td>
                <td>
                  <Status
                    status={member.secondFactor ? 'active' : 'idle'}
                    text={member.secondFactor ? 'yes' : 'none'}
                  />
                </td>
                <td class="end">
                  <Button
                    kind="quiet"
                    why={
                      whyNot('manage') ??
                      (member.role === 'owner' || member.role === 'admin'
                        ? 'Only members and viewers can be limited to projects.'
                        : undefined)
                    }
                    label={`Projects of ${member.account.email}`}
                    onPress={() => limit(member)}
                  >
                    Projects
                  </Button>
                  <Button
                    kind="quiet"
                    why={list.length === 1 ? 'The last one stays.' : whyNot('manage')}
                    label={`Remove ${member.account.email}`}
                    onPress={() => remove(member)}
                  >
                    Remove
                  </Button>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Await>
      {whyNot('manage') === undefined && <Invitations id={id} />}
      {limiting && (
        <MemberAccess
          workspaceId={id}
          member={limiting}
          onStored={members.reload}
          onClose={() => limit(undefined)}
        />
      )}
      {removing && (
        <Confirm
          title={`Remove ${removing.account.email}?`}
          verb="Remove"
          name={removing.account.email}
          isDangerous
          onConfirm={async () => {
            await api.deleteMember({ id, accountId: removing.account.id });
            await members.reload();
          }}
          onClose={() => remove(undefined)}
        >
          <p>They see nothing of this workspace any more, at once, and their tokens stop working in it.</p>
        </Confirm>
      )}
    </section>
  );
}
