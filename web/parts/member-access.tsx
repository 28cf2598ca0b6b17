/** Whether a member reaches all projects, or only some, with a role in each. */
import { useState } from 'preact/hooks';
import type { Member } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useProjects } from '../data/lists.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';

const roles = ['viewer', 'member', 'admin'] as const;

interface AccessProps {
  readonly workspaceId: string;
  readonly member: Member;
  readonly onStored: () => Promise<void>;
  readonly onClose: () => void;
}

export function MemberAccess({ workspaceId: id, member, onStored, onClose }: AccessProps) {
  const { account, projects: limits } = member;
  const [isLimited, limit] = useState(limits !== null);
  const projects = useProjects();
  const store = useAction(async (fields: Readonly<Record<string, string>>) => {
    const chosen = (projects.value ?? []).flatMap(({ id: projectId }) => {
      const role = roles.find((each) => each === fields[projectId]);
      return role ? [{ projectId, role }] : [];
    });
    await api.updateMember({ id, accountId: account.id, body: { projects: isLimited ? chosen : null } });
    await onStored();
  });
  return (
    <Dialog title={`What ${account.email} reaches`} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (await store.run(fieldsOf(event.currentTarget))) onClose();
        }}
      >
        <label class="check">
          <input
            type="checkbox"
            checked={isLimited}
            onChange={(event) => limit(event.currentTarget.checked)}
          />
          Only some projects
        </label>
        <p class="hint">
          Whoever is limited sees nothing of other projects, nor servers, domains and members. Only members
          and viewers can be limited.
        </p>
        {isLimited && (
          <Await of={projects}>
            {(list) =>
              list.map(({ id: projectId, name }) => (
                <label class="choice" key={projectId}>
                  <span class="clip">{name}</span>
                  <select class="input input-short" name={projectId}>
                    <option value="">not at all</option>
                    {roles.map((role) => (
                      <option
                        key={role}
                        value={role}
                        selected={limits?.find((each) => each.projectId === projectId)?.role === role}
                      >
                        {role}
                      </option>
                    ))}
                  </select>
                </label>
              ))
            }
          </Await>
        )}
        {store.failure && <FailureNotice failure={store.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={store.isBusy}>
            Store
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
