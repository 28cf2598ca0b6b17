/** What the last stage of a Node app gets: its modules in a layer of their own, then the app. */
import { join } from '../../../repository.ts';
import type { Stage } from '../../document.ts';
import { folderSource } from '../../request.ts';
import type { Installation } from './installation.ts';
import type { NodeProject } from './manifests.ts';
import type { NodeOutput } from './outputs.ts';

/** The user "node" of the image, and "bun" of its image. */
export const user = '1000:1000';

/** Where the app gets its modules from: a stage, or nowhere. */
export type Modules = 'dependencies' | 'production' | 'build' | null;

export function copyModules(
  stage: Stage,
  { project }: Installation,
  modules: Modules,
  isPruned: boolean,
  hint = '',
): void {
  if (modules !== 'production' && modules !== 'dependencies') return;
  const why = isPruned
    ? `Only what the app needs while it runs; the layer stays the same as long as the lock file does${hint}`
    : 'All dependencies, as a command that is run here may need those for development';
  const from = [`--from=${modules}`];
  if (project.members.length > 0) stage.copy(['/app/'], './', why, from);
  else stage.copy(['/app/node_modules/'], './node_modules/', why, from);
}

export function copyApp(stage: Stage, project: NodeProject, hasBuild: boolean, modules: Modules): void {
  const own = `--chown=${user}`;
  if (hasBuild && (modules === 'build' || project.members.length === 0)) {
    stage.copy(['/app/'], './', 'The app as built', ['--from=build', own]);
    return;
  }
  if (project.members.length === 0) {
    stage.copy([folderSource(project.root)], './', undefined, [own]);
    return;
  }
  for (const member of project.needed) {
    const folder = member === '' ? '' : `${member}/`;
    const source = hasBuild ? `/app/${folder}` : `${join(project.root, member) || '.'}/`;
    const from = hasBuild ? ['--from=build', own] : [own];
    stage.copy([source], `./${folder}`, 'The app and the members of the workspace that it uses', from);
  }
}

export function copyOutput(stage: Stage, project: NodeProject, output: NodeOutput): void {
  const inside = project.inside === '' ? '' : `${project.inside}/`;
  for (const [source, target] of output.copies) {
    const isFile = source.endsWith('.json');
    const to = output.start === null ? `./${inside}${target}` : `./${target}`;
    const from = `/app/${inside}${source}${isFile ? '' : '/'}`;
    const place = isFile || to.endsWith('/') ? to : `${to}/`;
    stage.copy([from], place, output.why, ['--from=build', `--chown=${user}`]);
  }
}
