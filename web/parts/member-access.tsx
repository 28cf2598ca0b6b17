import type { Member } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { limitsOf, ProjectRoles } from './project-roles.tsx';

interface AccessProps {
  readonly workspaceId: string;
  readonly member: Member;
  readonly onStored: () => Promise<void>;
  readonly onClose: () => void;
}

export function MemberAccess({ workspaceId: id, member, onStored, onClose }: AccessProps) {
  const { account, projects } = member;
  const store = useAction(async (fields: Readonly<Record<string, string>>) => {
    await api.updateMember({ id, accountId: account.id, body: { projects: limitsOf(fields) } });
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
        <ProjectRoles limits={projects} />
        {store.failure && <FailureNotice failure={store.failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={store.isBusy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
