/** Frameworks of Python: how each is known, how it is started, and which port is its custom. */
import type { AppObject } from './python-app.ts';

export interface PythonFramework {
  readonly name: string;
  /** Distributions that mean it, in the form of `pythonDependencies`. */
  readonly packages: readonly string[];
  /** The module that is imported, where it is not the first package. */
  readonly module?: string;
  readonly kind: 'asgi' | 'wsgi' | 'script' | 'none';
  readonly port: number | null;
  /** For scripts: the command, with the file to run. */
  readonly run?: (file: string) => string;
  /** For scripts: the call that serves. The file that has it is run; without one, a server runs the object. */
  readonly serves?: RegExp;
}

const anywhere = '0.0.0.0';

type More = Partial<PythonFramework>;

function framework(
  kind: PythonFramework['kind'],
  name: string,
  port: number | null,
  more: More = {},
): PythonFramework {
  return { name, packages: [name], kind, port, ...more };
}
const asgi = (name: string, port = 8000, more?: More) => framework('asgi', name, port, more);
const wsgi = (name: string, port: number, more?: More) => framework('wsgi', name, port, more);
const script = (name: string, port: number, more?: More) => framework('script', name, port, more);

export const frameworks: readonly PythonFramework[] = [
  wsgi('django', 8000, { packages: ['django', 'wagtail', 'djangorestframework', 'django-ninja'] }),
  asgi('fastapi', 8000, { packages: ['fastapi', 'fastapi-slim'] }),
  asgi('litestar', 8000, { packages: ['litestar', 'starlite'] }),
  asgi('sanic'),
  asgi('quart', 5000),
  asgi('blacksheep'),
  asgi('esmerald'),
  asgi('ravyn'),
  script('fasthtml', 5001, { packages: ['python-fasthtml'], module: 'fasthtml', serves: /^\s{0,8}serve\(/ }),
  script('streamlit', 8501, {
    run: (file) => `streamlit run ${file} --server.port $PORT --server.address ${anywhere}`,
  }),
  script('chainlit', 8000, {
    run: (file) => `chainlit run ${file} --host ${anywhere} --port $PORT --headless`,
  }),
  wsgi('dash', 8050),
  script('gradio', 7860),
  script('nicegui', 8080),
  script('reflex', 3000, { run: () => 'reflex run --env prod' }),
  script('panel', 5006, {
    run: (file) => `panel serve ${file} --address ${anywhere} --port $PORT --allow-websocket-origin='*'`,
  }),
  script('marimo', 2718, { run: (file) => `marimo run ${file} --host ${anywhere} --port $PORT --headless` }),
  asgi('connexion', 8080),
  wsgi('flask', 5000, { packages: ['flask', 'apiflask', 'flask-openapi3', 'flask-restful'] }),
  wsgi('falcon', 8000),
  script('bottle', 8080),
  script('pyramid', 6543),
  script('cherrypy', 8080),
  script('robyn', 8080),
  asgi('starlette'),
  script('tornado', 8888),
  script('aiohttp', 8080, { packages: [], module: 'aiohttp.web' }),
  framework('none', 'scrapy', null),
  framework('none', 'celery', null),
];

/** The command of the first server among the dependencies that can serve this kind of object. */
export function serverCommand(
  framework: PythonFramework,
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
  // Those that bring a server of their own.
  const options = isFactory ? ' --factory' : '';
  const own: Readonly<Record<string, readonly [server: string | undefined, command: string]>> = {
    sanic: ['sanic', `sanic ${name}${options} --host=${anywhere} --port=$PORT`],
    litestar: ['litestar', `litestar --app ${name} run --host ${anywhere} --port $PORT`],
    quart: ['hypercorn', `hypercorn ${called} --bind ${anywhere}:$PORT`],
    flask: [undefined, `flask --app ${isFactory ? app.module : name} run --host=${anywhere} --port=$PORT`],
  };
  const [server, command] = own[framework.name] ?? [];
  if (command !== undefined) return { command: `${inFolder}${command}`, server };
  return { command: servers[0]?.[1] ?? '', server: undefined };
}
