/**
 * The program behind `npm start`. A package manager runs a script in a shell, and that shell dies of SIGTERM without
 * passing it on; so where the manifest's script is known, the script itself becomes the container's command.
 */
import { plainWords } from '../../text/command-line.ts';
import { isDependency, manifestDependsOn, type NodeProject, scriptOf } from './manifests.ts';

export interface NodeStart {
  readonly command: string;
  /** What to tell the user when it is not what they wrote. */
  readonly why: string | null;
}

const byScript =
  /^(?:npm|pnpm|yarn|bun)(?: run(?:-script)?)?(?: --)? ([A-Za-z0-9][\w:.-]*)$|^node --run ([A-Za-z0-9][\w:.-]*)$/;
const ownCommands = new Set(['install', 'ci', 'exec', 'dlx', 'run', 'add', 'test', 'x', 'init', 'create']);

export function nodeStart(command: string, project: NodeProject): NodeStart {
  let now = command;
  // A script may call another; a chain that is longer than this is a circle.
  for (let turn = 0; turn < 5; turn++) {
    const found = byScript.exec(now);
    const name = found?.[1] ?? found?.[2];
    if (name === undefined || ownCommands.has(name)) break;
    const script = scriptOf(project.manifest, name)?.trim();
    if (script === undefined || script === '' || script.length > 2_000) break;
    // These variables exist only in scripts of a package manager.
    if (/\$\{?npm_|\n/.test(script)) break;
    const before = scriptOf(project.manifest, `pre${name}`) === null ? '' : `npm run pre${name} && `;
    now = `${before}${withoutCrossEnv(script)}`;
    if (before !== '') break;
  }
  now = withoutCrossEnv(now.replace(/^(npx|pnpm exec|yarn exec|pnpm dlx) (?=[a-z@])/, ''));
  if (now === command) return { command, why: null };
  return {
    command: now,
    why: `What "${command}" runs, without the package manager in front, whose shell would swallow SIGTERM`,
  };
}

function withoutCrossEnv(script: string): string {
  return script.replace(/^cross-env (?=[A-Za-z_][A-Za-z0-9_]*=)/, '');
}

/** Programs of packages whose name is not the program's. */
const packagesOf: ReadonlyMap<string, string> = new Map([
  ['nest', '@nestjs/cli'],
  ['ng', '@angular/cli'],
  ['remix-serve', '@remix-run/serve'],
  ['react-router-serve', '@react-router/serve'],
  ['strapi', '@strapi/strapi'],
  ['medusa', '@medusajs/cli'],
  ['tsc', 'typescript'],
]);

/**
 * Whether what is left after pruning can start the app: it is started by the runtime itself, or by a program of a
 * production dependency. When in doubt, everything stays.
 */
export function startsWithoutDevDependencies(command: string, project: NodeProject): boolean {
  const last = command.split(/&&|;/).at(-1)?.trim() ?? '';
  const parts = command.split(/&&|;/).map((part) => firstProgram(part, project));
  if (last === '') return false;
  return parts.every((program) => {
    if (program === null) return false;
    if (['node', 'bun', 'deno', 'sh', 'echo', 'mkdir', 'exec'].includes(program)) return true;
    return [program, packagesOf.get(program) ?? program].some(
      (name) => isDependency(project.manifest, name) || isDependency(project.rootManifest, name),
    );
  });
}

function firstProgram(part: string, project: NodeProject): string | null {
  const found = nodeStart(part.trim().replace(/^exec /, ''), project).command.replaceAll(
    /\$\{?\w+(:-\w+)?\}?/g,
    'x',
  );
  const words = plainWords(found)?.filter((word) => word !== 'env' && !/^[A-Za-z_]\w*=/.test(word)) ?? [];
  const [program, ...rest] = words;
  if (program === undefined) return null;
  // Loaders of the runtime are packages too: node -r ts-node/register, node --import tsx.
  const loaded = rest.filter(
    (word, at) => /^(-r|--require|--import|--loader)$/.test(rest[at - 1] ?? '') && !word.startsWith('.'),
  );
  const isDevOnly = loaded.some((word) => {
    const name = word
      .split('/')
      .slice(0, word.startsWith('@') ? 2 : 1)
      .join('/');
    return manifestDependsOn(project.manifest, name) && !isDependency(project.manifest, name);
  });
  return isDevOnly ? null : (program.split('/').at(-1) ?? program);
}
