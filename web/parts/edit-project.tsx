import type { Project } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { BranchField } from './branch-field.tsx';

/** Its name, and what of the repository is looked at. */
export function EditProject({
  project: { id, name, branch, rootDirectory, repository },
  onClose,
}: {
  readonly project: Project;
  readonly onClose: () => void;
}) {
  const folder = rootDirectory === '.' ? '' : rootDirectory;
  const store = useAction(async (fields: Readonly<Record<string, string>>) => {
    const wanted = { branch: fields.branch || null, folder: fields.rootDirectory ?? '' };
    // Only what is different: another branch or folder is analysed anew.
    await api.updateProject({
      id,
      body: {
        name: fields.name,
        ...(wanted.branch !== branch && { branch: wanted.branch }),
        ...(wanted.folder !== folder && { rootDirectory: wanted.folder }),
      },
    });
  });
  const errors = store.failure?.fields ?? {};
  return (
    <Dialog title={`Change ${name}`} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (await store.run(fieldsOf(event.currentTarget))) onClose();
        }}
      >
        <TextField label="Name" name="name" value={name} error={errors.name} isRequired isFocused />
        <BranchField
          repository={repository}
          value={branch ?? ''}
          hint="Empty: the default one of the repository."
          error={errors.branch}
        />
        <TextField
          label="Folder"
          name="rootDirectory"
          value={folder}
          placeholder="apps/web"
          hint="Empty: the root of the repository."
          error={errors.rootDirectory}
        />
        <p class="hint">
          Another branch or folder is analysed anew. Environments keep their own branch, and what is live
          stays as it is.
        </p>
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
