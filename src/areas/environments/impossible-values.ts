/**
 * Values that could be stored and never work. Refused where they come in, with the field and what would be right: what a
 * person sets, before it is stored; what a repository's files say, before anything is built.
 */
import { parseCron } from '../../cron.ts';
import { Fault, type FieldError } from '../../fault.ts';
import type { EnvironmentSettings } from './environments.ts';

type Problem = string | undefined;

/** Of the kernel, whatever an image has there: nothing that is kept can be mounted over them, or below. */
const kernelFolders = ['/proc', '/sys', '/dev'];
/** Mounted over, the image has no programs, no names and no sockets any more. */
const systemFolders = new Set([
  ...['/', '/bin', '/sbin', '/lib', '/lib64', '/boot', '/etc', '/run', '/var/run'],
  ...['/usr', '/usr/bin', '/usr/sbin', '/usr/lib', '/run/docker.sock', '/var/run/docker.sock'],
  ...['/etc/hosts', '/etc/hostname', '/etc/resolv.conf'],
]);

export function mountProblem(path: string): Problem {
  if (!/^\/[^\p{Cc}:,\\]*$/u.test(path))
    return 'must be a path from the root without `:`, `,` and `\\`, such as /app/uploads';
  const names = path.split('/').slice(1);
  if (path !== '/' && names.some((name) => name === '' || name === '.' || name === '..'))
    return 'must be written without `.`, `..`, double slashes or a slash at its end, such as /app/uploads';
  const kernel = kernelFolders.find((folder) => path === folder || path.startsWith(`${folder}/`));
  if (kernel) return `must not be in ${kernel}, which is the kernel’s; take a folder such as /app/uploads`;
  if (systemFolders.has(path))
    return `must not be ${path}, which the system in the image needs; take a folder such as /app/uploads`;
  return undefined;
}

function isInside(path: string): boolean {
  return /^[^\p{Cc}\\/-][^\p{Cc}\\]*$/u.test(path) && !path.split('/').includes('..');
}

function fileProblem(path: string): Problem {
  const name = path.split('/').at(-1);
  if (isInside(path) && name !== '' && name !== '.') return undefined;
  return 'must be the path of a file inside the repository, such as `docker/web.Dockerfile`';
}

function folderProblem(path: string): Problem {
  if (isInside(path)) return undefined;
  return 'must be a folder inside the repository, such as `dist`; `.` is the folder of the app';
}

function commandProblem(command: string): Problem {
  if (command.trim() === '') return 'must be a command; null is «none»';
  return command.includes('\0') ? 'must not have a zero byte' : undefined;
}

function healthProblem(path: string): Problem {
  return /^\/[\x21\x22\x24-\x7e]*$/.test(path)
    ? undefined
    : 'must be a path as it is requested, such as /healthz: from `/` on, without spaces and without `#`';
}

function scheduleErrors(schedule: string, path: string): readonly FieldError[] {
  try {
    parseCron(schedule, path);
    return [];
  } catch (error) {
    if (error instanceof Fault && error.errors) return error.errors;
    throw error;
  }
}

export type CheckedValues = Pick<
  EnvironmentSettings,
  | 'installCommand'
  | 'buildCommand'
  | 'startCommand'
  | 'releaseCommand'
  | 'staticOutput'
  | 'healthPath'
  | 'dockerfilePath'
  | 'volumes'
  | 'health'
  | 'processes'
>;

export function impossibleIn(values: CheckedValues): FieldError[] {
  const { volumes = [], health, processes = {} } = values;
  const one = (path: string, value: string | null | undefined, problemOf: (value: string) => Problem) => {
    const message = value === null || value === undefined ? undefined : problemOf(value);
    return message === undefined ? [] : [{ path: `settings.${path}`, message }];
  };
  const commands = ['installCommand', 'buildCommand', 'startCommand', 'releaseCommand'] as const;
  return [
    ...commands.flatMap((name) => one(name, values[name], commandProblem)),
    ...one('staticOutput', values.staticOutput, folderProblem),
    ...one('healthPath', values.healthPath, healthProblem),
    ...one('health.path', health?.path, healthProblem),
    ...one('dockerfilePath', values.dockerfilePath, fileProblem),
    ...volumes.flatMap(({ path }, index) => one(`volumes[${index}].path`, path, mountProblem)),
    ...Object.entries(processes).flatMap(([name, { command, schedule }]) => [
      ...one(`processes.${name}.command`, command, commandProblem),
      ...(schedule === undefined ? [] : scheduleErrors(schedule, `settings.processes.${name}.schedule`)),
    ]),
  ];
}
