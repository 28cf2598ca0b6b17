/** Frameworks of Python: how each is known, how it is started, and which port is its custom. */
import type { AppObject } from './python-app.ts';

export interface Framework {
  readonly name: string;
  /** Distributions that mean it, in the form of `pythonDependencies`. */
  readonly packages: readonly string[];
  /** The module that is imported, where it is not the first package. */
  readonly module?: string;
  readonly kind: 'asgi' | 'wsgi' | 'script' | 'none';
  readonly port: number | null;
  /** For scripts: the command, with the file to run. */
  readonly run?: (file: string) => string;
}

const anywhere = '0.0.0.0';

export const frameworks: readonly Framework[] = [
  {
    name: 'django',
    packages: ['django', 'wagtail', 'djangorestframework', 'django-ninja'],
    kind: 'wsgi',
    port: 8000,
  },
  { name: 'fastapi', packages: ['fastapi', 'fastapi-slim'], kind: 'asgi', port: 8000 },
  { name: 'litestar', packages: ['litestar', 'starlite'], kind: 'asgi', port: 8000 },
  { name: 'sanic', packages: ['sanic'], kind: 'asgi', port: 8000 },
  { name: 'quart', packages: ['quart'], kind: 'asgi', port: 5000 },
  { name: 'blacksheep', packages: ['blacksheep'], kind: 'asgi', port: 8000 },
  { name: 'esmerald', packages: ['esmerald'], kind: 'asgi', port: 8000 },
  { name: 'ravyn', packages: ['ravyn'], kind: 'asgi', port: 8000 },
  { name: 'fasthtml', packages: ['python-fasthtml'], module: 'fasthtml', kind: 'script', port: 5001 },
  {
    name: 'streamlit',
    packages: ['streamlit'],
    kind: 'script',
    port: 8501,
    run: (file) => `streamlit run ${file} --server.port $PORT --server.address ${anywhere}`,
  },
  {
    name: 'chainlit',
    packages: ['chainlit'],
    kind: 'script',
    port: 8000,
    run: (file) => `chainlit run ${file} --host ${anywhere} --port $PORT --headless`,
  },
  { name: 'dash', packages: ['dash'], kind: 'wsgi', port: 8050 },
  { name: 'gradio', packages: ['gradio'], kind: 'script', port: 7860 },
  { name: 'nicegui', packages: ['nicegui'], kind: 'script', port: 8080 },
  { name: 'reflex', packages: ['reflex'], kind: 'script', port: 3000, run: () => 'reflex run --env prod' },
  {
    name: 'panel',
    packages: ['panel'],
    kind: 'script',
    port: 5006,
    run: (file) => `panel serve ${file} --address ${anywhere} --port $PORT --allow-websocket-origin='*'`,
  },
  {
    name: 'marimo',
    packages: ['marimo'],
    kind: 'script',
    port: 2718,
    run: (file) => `marimo run ${file} --host ${anywhere} --port $PORT --headless`,
  },
  { name: 'connexion', packages: ['connexion'], kind: 'asgi', port: 8080 },
  {
    name: 'flask',
    packages: ['flask', 'apiflask', 'flask-openapi3', 'flask-restful'],
    kind: 'wsgi',
    port: 5000,
  },
  { name: 'falcon', packages: ['falcon'], kind: 'wsgi', port: 8000 },
  { name: 'bottle', packages: ['bottle'], kind: 'script', port: 8080 },
  { name: 'pyramid', packages: ['pyramid'], kind: 'script', port: 6543 },
  { name: 'cherrypy', packages: ['cherrypy'], kind: 'script', port: 8080 },
  { name: 'robyn', packages: ['robyn'], kind: 'script', port: 8080 },
  { name: 'starlette', packages: ['starlette'], kind: 'asgi', port: 8000 },
  { name: 'tornado', packages: ['tornado'], kind: 'script', port: 8888 },
  { name: 'aiohttp', packages: [], module: 'aiohttp.web', kind: 'script', port: 8080 },
  { name: 'scrapy', packages: ['scrapy'], kind: 'none', port: null },
  { name: 'celery', packages: ['celery'], kind: 'none', port: null },
];

/** The command of the first server among the dependencies that can serve this kind of object. */
export function serverCommand(
  framework: Framework,
  app: AppObject,
  has: (name: string) => boolean,
): { readonly command: string; readonly server: string | undefined } {
  const { folder, isFactory } = app;
  const name = `${app.module}:${app.object}`;
  const called = isFactory ? `'${name}()'` : name;
  const inFolder = folder === undefined ? '' : `cd ${folder} && `;
  const gunicorn = (extra = '') =>
    `gunicorn ${called}${extra}${folder === undefined ? '' : ` --chdir ${folder}`} --bind ${anywhere}:$PORT`;
  const uvicorn = `uvicorn ${name}${isFactory ? ' --factory' : ''}${folder === undefined ? '' : ` --app-dir ${folder}`} --host ${anywhere} --port $PORT`;
  const servers: readonly (readonly [string, string])[] =
    framework.kind === 'asgi'
      ? [
          ['uvicorn', uvicorn],
          ['hypercorn', `${inFolder}hypercorn ${called} --bind ${anywhere}:$PORT`],
          ['granian', `${inFolder}granian --interface asgi ${name} --host ${anywhere} --port $PORT`],
          ['daphne', `${inFolder}daphne -b ${anywhere} -p $PORT ${name}`],
          ['gunicorn', gunicorn(' -k uvicorn.workers.UvicornWorker')],
        ]
      : [
          ['gunicorn', gunicorn()],
          [
            'waitress',
            `${inFolder}waitress-serve --listen=${anywhere}:$PORT ${isFactory ? `--call ${name}` : name}`,
          ],
          ['uwsgi', `${inFolder}uwsgi --http ${anywhere}:$PORT --module ${name} --master`],
          ['granian', `${inFolder}granian --interface wsgi ${name} --host ${anywhere} --port $PORT`],
          ['uvicorn', `${uvicorn} --interface wsgi`],
        ];
  const found = servers.find(([server]) => has(server));
  if (found) return { command: found[1], server: found[0] };
  if (framework.name === 'sanic') {
    return {
      command: `${inFolder}sanic ${name}${isFactory ? ' --factory' : ''} --host=${anywhere} --port=$PORT`,
      server: 'sanic',
    };
  }
  if (framework.name === 'litestar') {
    return {
      command: `${inFolder}litestar --app ${name} run --host ${anywhere} --port $PORT`,
      server: 'litestar',
    };
  }
  if (framework.name === 'quart') {
    return { command: `${inFolder}hypercorn ${called} --bind ${anywhere}:$PORT`, server: 'hypercorn' };
  }
  if (framework.name === 'flask') {
    return {
      command: `${inFolder}flask --app ${isFactory ? app.module : name} run --host=${anywhere} --port=$PORT`,
      server: undefined,
    };
  }
  return { command: servers[0]?.[1] ?? '', server: undefined };
}
