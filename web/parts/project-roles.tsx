/** Whether someone reaches all projects, or only some, with a role in each. */
import { useState } from 'preact/hooks';
import type { Member } from '../../sdk/index.ts';
import { useProjects } from '../data/lists.ts';
import { Await } from '../ui/empty.tsx';

type Limits = Member['projects'];

const roles = ['viewer', 'member', 'admin'] as const;

export function ProjectRoles({ limits }: { readonly limits: Limits }) {
  const [isLimited, limit] = useState(limits !== null);
  const projects = useProjects();
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          name="limited"
          checked={isLimited}
          onChange={(event) => limit(event.currentTarget.checked)}
        />
        Only some projects
      </label>
      {isLimited && (
        <>
          <p class="hint">
            Whoever is limited sees nothing of other projects, nor servers, domains and members. Only members
            and viewers can be limited.
          </p>
          <Await of={projects}>
            {(list) =>
              list.length === 0 ? (
                <p class="hint">There is no project yet.</p>
              ) : (
                <div class="choices">
                  {list.map(({ id, name }) => (
                    <label class="choice" key={id}>
                      <span class="clip">{name}</span>
                      <select class="input input-short" name={`project-${id}`}>
                        <option value="">not at all</option>
                        {roles.map((role) => (
                          <option
                            key={role}
                            value={role}
                            selected={limits?.find(({ projectId }) => projectId === id)?.role === role}
                          >
                            {role}
                          </option>
                        ))}
                      </select>
                    </label>
                  ))}
                </div>
              )
            }
          </Await>
        </>
      )}
    </>
  );
}

/** As the fields of the form say; null is all of the workspace. */
export function limitsOf(fields: Readonly<Record<string, string>>): Limits {
  if (fields.limited !== 'on') return null;
  return Object.entries(fields).flatMap(([name, value]) => {
    const role = roles.find((each) => each === value);
    return role && name.startsWith('project-') ? [{ projectId: name.slice('project-'.length), role }] : [];
  });
}
