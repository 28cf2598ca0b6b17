/** Who is invited, and inviting: by a mail, with a role, to all of the workspace or to some projects. */
import { useState } from 'preact/hooks';
import type { InvitationRequest } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useResource } from '../data/resource.ts';
import { whyNot } from '../data/session.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { useAsked } from './asked.ts';
import { limitsOf, ProjectRoles } from './project-roles.tsx';
import { reachOf, roleOf, roles } from './roles.ts';

export function Invitations({ id }: { readonly id: string }) {
  const [asked, ask] = useAsked(['invite']);
  const [sentTo, setSentTo] = useState('');
  const invitations = useResource(`invitations ${id}`, (options) =>
    api.listInvitations({ id, limit: 100 }, options),
  );
  const withdraw = useAction(async (invitationId: string) => {
    await api.deleteInvitation({ id, invitationId });
    await invitations.reload();
  });
  return (
    <>
      <div class="section-head">
        <h2>Invitations</h2>
        <Button kind="primary" why={whyNot('manage')} onPress={() => ask('invite')}>
          Invite someone
        </Button>
      </div>
      {sentTo && (
        <p class="notice" role="status">
          A link is on its way to {sentTo}. It works once, for seven days.
        </p>
      )}
      {withdraw.failure && <FailureNotice failure={withdraw.failure} />}
      <Await of={invitations} lines={1}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="hint">Nobody is invited now.</p>
          ) : (
            <Table label="Invitations" heads={['Address', 'Role', 'Ends', '']}>
              {items.map((invitation) => (
                <tr key={invitation.id}>
                  <td>{invitation.email}</td>
                  <td>
                    {invitation.role} <span class="fine">{reachOf(invitation.projects)}</span>
                  </td>
                  <td class="fine">
                    <Time at={invitation.expiresAt} />
                  </td>
                  <td class="end">
                    <Button
                      kind="quiet"
                      label={`Withdraw the invitation of ${invitation.email}`}
                      isBusy={withdraw.isBusy}
                      onPress={() => withdraw.run(invitation.id)}
                    >
                      Withdraw
                    </Button>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Await>
      {asked && (
        <Invite
          id={id}
          onSent={async (email) => {
            setSentTo(email);
            await invitations.reload();
          }}
          onClose={() => ask(undefined)}
        />
      )}
    </>
  );
}

interface InviteProps {
  readonly id: string;
  readonly onSent: (email: string) => Promise<void>;
  readonly onClose: () => void;
}

function Invite({ id, onSent, onClose }: InviteProps) {
  const [role, setRole] = useState(roleOf('member'));
  const invite = useAction(async (body: InvitationRequest) => {
    await api.createInvitation({ id, body });
    await onSent(body.email);
  });
  return (
    <Dialog title="Invite someone" onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const fields = fieldsOf(event.currentTarget);
          if (await invite.run({ email: fields.email ?? '', role, projects: limitsOf(fields) })) onClose();
        }}
      >
        <TextField
          label="E-mail"
          name="email"
          type="email"
          placeholder="grace@example.com"
          hint="A link is sent there. It works for this address alone."
          error={invite.failure?.fields.email}
          isRequired
          isFocused
        />
        <SelectField
          label="As"
          name="role"
          value={role}
          options={roles}
          onChoice={(value) => setRole(roleOf(value))}
        />
        {(role === 'member' || role === 'viewer') && <ProjectRoles limits={null} />}
        {invite.failure && <FailureNotice failure={invite.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={invite.isBusy}>
            Send the invitation
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
