/** Where a Python app listens: in its code, in the file of its server, else by the custom of its framework. */

import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import { isParsed, join, type Repository } from '../../repository.ts';
import { findIn } from '../code.ts';
import { portInCode } from '../code-port.ts';
import type { Framework } from './python-frameworks.ts';

const servers =
  /^\s*(?:from|import)\s+(?:http\.server|socketserver|socket|wsgiref|uvicorn|hypercorn|gunicorn|websockets|grpc|waitress|werkzeug|xmlrpc|twisted|gevent|eventlet|asyncio)\b/;

export function pythonPort(
  repository: Repository,
  directory: string,
  framework: Framework | undefined,
  files: readonly string[],
): Evidenced<number | null> {
  const [entry = directory] = files;
  if (framework?.kind === 'none') return evidenced(null, conventional, entry, 'listens nowhere');
  const custom = framework && evidenced(framework.port, conventional, entry, `custom of ${framework.name}`);
  const configs = ['gunicorn.conf.py', 'gunicorn_config.py', 'hypercorn.toml'].map((name) =>
    join(directory, name),
  );
  // Ports in the settings of Django are those of databases.
  if (custom && framework?.name === 'django') return portInCode(repository, configs) ?? custom;
  if (custom && framework?.name === 'streamlit') return streamlitPort(repository, directory) ?? custom;
  const isServer =
    custom !== undefined || files.some((file) => findIn(repository, file, servers) !== undefined);
  const inCode = isServer ? portInCode(repository, [...configs, ...new Set(files)]) : undefined;
  return inCode ?? custom ?? evidenced(null, guessed, entry, 'nothing that listens was seen');
}

function streamlitPort(repository: Repository, directory: string): Evidenced<number> | undefined {
  const path = join(directory, '.streamlit/config.toml');
  const server = repository.has(path) ? repository.toml(path)?.server : undefined;
  const port = isParsed(server) ? server.port : undefined;
  return typeof port === 'number' ? evidenced(port, certain, path, 'server.port') : undefined;
}
