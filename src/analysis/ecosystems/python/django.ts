/** A Django project: its settings say where the application is, and manage.py says from where it is run. */

import { conventional, type Evidenced, evidenced, evidencedBy } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { nameOf, parentOf } from '../../repository.ts';

export interface Django {
  readonly start: Evidenced<string>;
  readonly build: Evidenced<string> | undefined;
  readonly release: Evidenced<string> | undefined;
  readonly settings: readonly string[];
  /** `python manage.py`, from the app's folder. */
  readonly manage: string;
}

export function readDjango(
  project: Project,
  files: readonly string[],
  has: (name: string) => boolean,
): Django | undefined {
  const manageFile = files.find((path) => nameOf(path) === 'manage.py');
  const settings = files.filter((path) =>
    /(?:^|\/)settings(?:\/\w+)?\.py$|(?:^|\/)config\/\w+\.py$/.test(path),
  );
  const wsgi = moduleFrom(project, files, 'WSGI_APPLICATION', 'wsgi.py');
  const asgi = moduleFrom(project, files, 'ASGI_APPLICATION', 'asgi.py');
  if (!manageFile && !wsgi && !asgi) return undefined;
  const above = parentOf(manageFile ?? '');
  const folder = above === undefined || above === project.path ? undefined : project.relative(above);
  const manage = `python ${folder === undefined ? '' : `${folder}/`}manage.py`;
  const source = manageFile ?? wsgi?.source.file ?? project.path;
  return {
    start: startOf(wsgi, asgi, folder, manage, source, has),
    build: collectStatic(project, settings, manage, source, has),
    release: manageFile
      ? evidenced(`${manage} migrate`, conventional, manageFile, 'migrations of Django')
      : undefined,
    settings,
    manage,
  };
}

/** `proj.wsgi.application` in the settings is `proj.wsgi:application` for a server. */
function moduleFrom(
  project: Project,
  files: readonly string[],
  key: string,
  file: string,
): Evidenced<string> | undefined {
  const hit = project.repository.find(
    files,
    new RegExp(String.raw`^\s*${key}\s*=\s*["']([\w.]+)\.(\w+)["']`),
  );
  if (hit) return evidencedBy(hit, `${hit.match[1]}:${hit.match[2]}`);
  const path = files.find((each) => nameOf(each) === file);
  if (path === undefined) return undefined;
  const manage = files.find((each) => nameOf(each) === 'manage.py');
  const base = manage ? (parentOf(manage) ?? '') : project.path;
  const isBelow = path.startsWith(base === '' ? '' : `${base}/`);
  const inside = isBelow ? path.slice(base === '' ? 0 : base.length + 1) : project.relative(path);
  const module = inside.replace(/\.py$/, '').replaceAll('/', '.');
  return evidenced(`${module}:application`, conventional, path, file);
}

function startOf(
  wsgi: Evidenced<string> | undefined,
  asgi: Evidenced<string> | undefined,
  folder: string | undefined,
  manage: string,
  source: string,
  has: (name: string) => boolean,
): Evidenced<string> {
  const inFolder = folder === undefined ? '' : `cd ${folder} && `;
  const chdir = folder === undefined ? '' : ` --chdir ${folder}`;
  const from = (module: Evidenced<string>, command: string) => ({ ...module, value: command });
  if (asgi && has('daphne')) return from(asgi, `${inFolder}daphne -b 0.0.0.0 -p $PORT ${asgi.value}`);
  if (asgi && has('uvicorn') && (has('channels') || !has('gunicorn') || has('uvicorn-worker'))) {
    return has('gunicorn')
      ? from(asgi, `gunicorn ${asgi.value}${chdir} -k uvicorn.workers.UvicornWorker --bind 0.0.0.0:$PORT`)
      : from(asgi, `${inFolder}uvicorn ${asgi.value} --host 0.0.0.0 --port $PORT`);
  }
  if (wsgi && has('gunicorn')) return from(wsgi, `gunicorn ${wsgi.value}${chdir} --bind 0.0.0.0:$PORT`);
  if (wsgi && has('waitress')) {
    return from(wsgi, `${inFolder}waitress-serve --listen=0.0.0.0:$PORT ${wsgi.value}`);
  }
  if (wsgi && has('uwsgi')) return from(wsgi, `${inFolder}uwsgi --http 0.0.0.0:$PORT --module ${wsgi.value}`);
  if (asgi && has('hypercorn')) return from(asgi, `${inFolder}hypercorn ${asgi.value} --bind 0.0.0.0:$PORT`);
  if (wsgi && has('granian')) {
    return from(wsgi, `${inFolder}granian --interface wsgi ${wsgi.value} --host 0.0.0.0 --port $PORT`);
  }
  return evidenced(
    `${manage} runserver 0.0.0.0:$PORT`,
    conventional,
    source,
    'no server among the dependencies',
  );
}

function collectStatic(
  { repository }: Project,
  settings: readonly string[],
  manage: string,
  source: string,
  has: (name: string) => boolean,
): Evidenced<string> | undefined {
  const command = `${manage} collectstatic --noinput`;
  const root = repository.find(settings, /^\s*STATIC_ROOT\s*=/);
  if (root) return evidenced(command, conventional, root.file, 'STATIC_ROOT', root.line);
  return has('whitenoise') ? evidenced(command, conventional, source, 'whitenoise') : undefined;
}
