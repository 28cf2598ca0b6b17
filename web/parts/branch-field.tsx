/** A branch by its name. Where the repository is of a connected account, its branches are offered. */
import type { ProjectRepository } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useResource } from '../data/resource.ts';
import { TextField } from '../ui/field.tsx';

interface BranchProps {
  readonly repository: ProjectRepository | undefined;
  readonly value?: string;
  readonly hint?: string;
  readonly error: string | undefined;
  readonly isRequired?: boolean;
}

export function BranchField({ repository, ...field }: BranchProps) {
  const { providerId = null, fullName = '' } = repository ?? {};
  const branches = useResource(`branches ${providerId} ${fullName}`, async (options) =>
    providerId === null
      ? []
      : (await api.listBranches({ providerId, repo: fullName, limit: 100 }, options)).items,
  );
  // What cannot be offered can be typed: that the host does not answer is no reason to say so here.
  const suggestions = (branches.value ?? []).map(({ name }) => name);
  return <TextField label="Branch" name="branch" {...field} suggestions={suggestions} />;
}
