/** What a Python app runs beside its web process: queue workers and their clocks. */

import type { Evidenced } from '../../evidence.ts';
import { nameOf, type Repository } from '../../repository.ts';
import type { Process } from '../../result.ts';
import { findInAny } from '../code.ts';
import { worker } from '../draft.ts';
import { moduleOf } from './python-app.ts';

export function pythonProcesses(
  repository: Repository,
  directory: string,
  files: readonly string[],
  has: (name: string) => boolean,
  manage: string | undefined,
): readonly Evidenced<Process>[] {
  const found: Evidenced<Process>[] = [];
  found.push(...celery(repository, directory, files, has));
  const say = (name: string, command: string, file: string) => found.push(worker(name, command, file, name));
  const root = files[0] ?? directory;
  if (manage && has('django-rq')) say('worker', `${manage} rqworker default`, root);
  if (manage && (has('django-q') || has('django-q2'))) say('worker', `${manage} qcluster`, root);
  if (manage && has('huey')) say('worker', `${manage} run_huey`, root);
  if (manage && has('django-dramatiq')) say('worker', `${manage} rundramatiq`, root);
  if (!manage && has('dramatiq')) {
    const actors = findInAny(repository, files, /^@(?:dramatiq\.)?actor\b/);
    if (actors) say('worker', `dramatiq ${moduleOf(repository, directory, actors.file).module}`, actors.file);
  }
  if (has('arq')) {
    const settings = findInAny(repository, files, /^class (\w*WorkerSettings)\b/);
    if (settings) {
      const { module } = moduleOf(repository, directory, settings.file);
      say('worker', `arq ${module}.${settings.match[1]}`, settings.file);
    }
  }
  if (!manage && has('rq')) {
    const file = files.find((path) => /^(?:rq_?)?worker\.py$/.test(nameOf(path)));
    if (file) say('worker', `python ${file.slice(directory === '' ? 0 : directory.length + 1)}`, file);
    else if (findInAny(repository, files, /^from rq import|^import rq\b/)) {
      say('worker', 'rq worker --url $REDIS_URL', root);
    }
  }
  return found;
}

function celery(
  repository: Repository,
  directory: string,
  files: readonly string[],
  has: (name: string) => boolean,
): readonly Evidenced<Process>[] {
  if (!has('celery')) return [];
  const made = findInAny(repository, files, /^\s*(\w+)\s*(?::\s*[\w.]+)?\s*=\s*(?:celery\.)?Celery\(/);
  if (!made) return [];
  // `-A proj` finds proj/celery.py by itself.
  const { module } = moduleOf(repository, directory, made.file);
  const name = module.includes('.') ? module.replace(/\.celery$/, '') : module;
  const command = `celery -A ${name} worker --loglevel=info`;
  const beat =
    findInAny(
      repository,
      files,
      /\b(?:beat_schedule|CELERY_BEAT_SCHEDULE|CELERYBEAT_SCHEDULE|add_periodic_task)\b/,
    )?.file ?? (has('django-celery-beat') ? made.file : undefined);
  const clock = worker('beat', `celery -A ${name} beat --loglevel=info`, beat ?? made.file, 'celery beat');
  return [worker('worker', command, made.file, 'celery'), ...(beat ? [clock] : [])];
}
