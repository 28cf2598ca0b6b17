/** Workspaces of npm, Yarn, pnpm, Bun, Deno, Lerna, Nx and Rush. */
import { isParsed, join, type Repository } from '../../../repository.ts';
import { expandMembers, namedMember } from '../../workspace-members.ts';
import { packageIn } from './package-json.ts';

export interface NodeWorkspace {
  readonly root: string;
  readonly file: string;
  readonly members: readonly string[];
}

const tools: readonly (readonly [string, string])[] = [
  ['turbo.json', 'turborepo'],
  ['turbo.jsonc', 'turborepo'],
  ['nx.json', 'nx'],
  ['lerna.json', 'lerna'],
  ['rush.json', 'rush'],
];

export function workspaceTool(repository: Repository, root: string): string | null {
  const files = repository.directory(root)?.files;
  return tools.find(([file]) => files?.has(file))?.[1] ?? null;
}

/** The folder whose workspace the directory belongs to; itself where it is the root of one. */
export function workspaceRootOf(repository: Repository, directory: string): string | undefined {
  return workspacesOf(repository).find(
    ({ root, members }) => root === directory || members.includes(directory),
  )?.root;
}

/** The directory, and the root of its workspace where that is another one. */
export function workspaceFolders(repository: Repository, directory: string): readonly string[] {
  const root = workspaceRootOf(repository, directory);
  return root === undefined || root === directory ? [directory] : [directory, root];
}

export function membersOf(repository: Repository, root: string): readonly string[] {
  return workspacesOf(repository).find((each) => each.root === root)?.members ?? [];
}

export function workspacesOf(repository: Repository): readonly NodeWorkspace[] {
  return repository.derived(findWorkspaces);
}

function findWorkspaces(repository: Repository): readonly NodeWorkspace[] {
  return [...repository.directories.keys()].flatMap((path) => {
    const found = workspaceIn(repository, path);
    return found && found.members.length > 0 ? [found] : [];
  });
}

function workspaceIn(repository: Repository, root: string): NodeWorkspace | undefined {
  const files = repository.directory(root)?.files;
  const has = (name: string) => files?.has(name) === true;
  const isPackage = (folder: string) => repository.has(join(folder, 'package.json'));
  const isProject = (folder: string) => isPackage(folder) || repository.has(join(folder, 'project.json'));
  const expand = (patterns: unknown, isMember = isPackage) =>
    Array.isArray(patterns) ? expandMembers(repository, root, patterns, isMember) : [];
  const at = (name: string) => join(root, name);
  if (has('pnpm-workspace.yaml')) {
    const members = expand(repository.yaml(at('pnpm-workspace.yaml'))?.packages);
    if (members.length > 0)
      return { root, file: at('pnpm-workspace.yaml'), members: withProjects(repository, root, members) };
  }
  const declared = has('package.json') ? packageIn(repository, root)?.raw.workspaces : undefined;
  const patterns = isParsed(declared) ? declared.packages : declared;
  if (Array.isArray(patterns))
    return { root, file: at('package.json'), members: withProjects(repository, root, expand(patterns)) };
  if (has('lerna.json')) {
    const listed = repository.json(at('lerna.json'))?.packages;
    return { root, file: at('lerna.json'), members: expand(Array.isArray(listed) ? listed : ['packages/*']) };
  }
  if (has('rush.json')) return { root, file: at('rush.json'), members: rushMembers(repository, root) };
  if (has('nx.json') && has('package.json'))
    return { root, file: at('nx.json'), members: expand(['**'], isProject) };
  for (const name of ['deno.json', 'deno.jsonc']) {
    const listed = has(name) ? repository.json(at(name))?.workspace : undefined;
    const members = isParsed(listed) ? listed.members : listed;
    const isDeno = (folder: string) =>
      ['deno.json', 'deno.jsonc', 'package.json'].some((each) => repository.has(join(folder, each)));
    if (Array.isArray(members)) return { root, file: at(name), members: expand(members, isDeno) };
  }
  return undefined;
}

/** Nx also has projects without a package.json of their own. */
function withProjects(repository: Repository, root: string, members: readonly string[]): readonly string[] {
  if (!repository.has(join(root, 'nx.json'))) return members;
  const projects = expandMembers(repository, root, ['**'], (folder) =>
    repository.has(join(folder, 'project.json')),
  );
  return [...new Set([...members, ...projects])].sort();
}

function rushMembers(repository: Repository, root: string): readonly string[] {
  const projects = repository.json(join(root, 'rush.json'))?.projects;
  const listed = Array.isArray(projects) ? projects.slice(0, 2_000).filter(isParsed) : [];
  return listed.flatMap(({ projectFolder }) => {
    const folder = typeof projectFolder === 'string' ? namedMember(root, projectFolder) : undefined;
    return folder !== undefined && repository.has(join(folder, 'package.json')) ? [folder] : [];
  });
}
