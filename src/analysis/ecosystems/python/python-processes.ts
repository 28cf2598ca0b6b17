/** What a Python app runs beside its web process: queue workers and their clocks. */

import type { Evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { nameOf } from '../../repository.ts';
import type { Process } from '../../result.ts';
import { worker } from '../draft.ts';
import { moduleOf } from './python-app.ts';

/** Queues that are worked on by a command of manage.py. */
const managed: readonly (readonly [string, string])[] = [
  ['django-rq', 'rqworker default'],
  ['django-q', 'qcluster'],
  ['django-q2', 'qcluster'],
  ['huey', 'run_huey'],
  ['django-dramatiq', 'rundramatiq'],
];

export function pythonProcesses(
  project: Project,
  files: readonly string[],
  has: (name: string) => boolean,
  manage: string | undefined,
): readonly Evidenced<Process>[] {
  const found: Evidenced<Process>[] = [];
  found.push(...celery(project, files, has));
  const say = (name: string, command: string, file: string) => found.push(worker(name, command, file, name));
  const root = files[0] ?? project.path;
  if (manage)
    for (const [package_, command] of managed) if (has(package_)) say('worker', `${manage} ${command}`, root);
  if (!manage && has('dramatiq')) {
    const actors = project.repository.find(files, /^@(?:dramatiq\.)?actor\b/);
    if (actors) say('worker', `dramatiq ${moduleOf(project, actors.file).module}`, actors.file);
  }
  if (has('arq')) {
    const settings = project.repository.find(files, /^class (\w*WorkerSettings)\b/);
    if (settings) {
      const { module } = moduleOf(project, settings.file);
      say('worker', `arq ${module}.${settings.match[1]}`, settings.file);
    }
  }
  if (!manage && has('rq')) {
    const file = files.find((path) => /^(?:rq_?)?worker\.py$/.test(nameOf(path)));
    if (file) say('worker', `python ${project.relative(file)}`, file);
    else if (project.repository.find(files, /^from rq import|^import rq\b/)) {
      say('worker', 'rq worker --url $REDIS_URL', root);
    }
  }
  return found;
}

function celery(
  project: Project,
  files: readonly string[],
  has: (name: string) => boolean,
): readonly Evidenced<Process>[] {
  if (!has('celery')) return [];
  const made = project.repository.find(files, /^\s*(\w+)\s*(?::\s*[\w.]+)?\s*=\s*(?:celery\.)?Celery\(/);
  if (!made) return [];
  // `-A proj` finds proj/celery.py by itself.
  const { module } = moduleOf(project, made.file);
  const name = module.includes('.') ? module.replace(/\.celery$/, '') : module;
  const command = `celery -A ${name} worker --loglevel=info`;
  const beat =
    project.repository.find(
      files,
      /\b(?:beat_schedule|CELERY_BEAT_SCHEDULE|CELERYBEAT_SCHEDULE|add_periodic_task)\b/,
    )?.file ?? (has('django-celery-beat') ? made.file : undefined);
  const clock = worker('beat', `celery -A ${name} beat --loglevel=info`, beat ?? made.file, 'celery beat');
  return [worker('worker', command, made.file, 'celery'), ...(beat ? [clock] : [])];
}
