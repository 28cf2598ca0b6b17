/**
 * Which folders hold a database file. One that lies beside the code has no folder that could be a volume, since the
 * volume would hide the code of every later release: that is said as a warning.
 */
import { certain, type Evidenced, evidenced, type Source } from '../evidence.ts';
import type { Project } from '../project.ts';
import type { Repository } from '../repository.ts';
import type { Warning } from '../result.ts';

const forms: readonly RegExp[] = [
  // sqlite:///data/app.db, sqlite+aiosqlite:////data/app.db, jdbc:sqlite:data/app.db, Data Source=data/app.db
  /sqlite3?(?:\+\w+)?:(?:\/\/\/|\/\/)?(\/?[\w./{}$-]{1,120}\.\w+)/i,
  /data source\s*=\s*([\w./-]{1,120}\.(?:db3?|sqlite3?))/i,
  // BASE_DIR / 'data' / 'app.db' and join(root, "data", "app.db"), where only the folder counts
  /["']([\w.-]{1,60})["']\s*[,/]\s*["'][\w.-]{1,60}\.(?:db3?|sqlite3?)["']/,
  /["'`](?:file:|sqlite:)?(?!django\b)([\w./-]{1,120}\.(?:db3?|sqlite3?))(?:\?[^"'`]{0,60})?["'`]/,
];

export interface Volumes {
  readonly volumes: readonly Evidenced<string>[];
  readonly warnings: readonly Warning[];
}

export const noVolumes: Volumes = { volumes: [], warnings: [] };

/** `usual` is where files go that are named without a folder. */
export function sqliteVolumes(project: Project, files: readonly string[], usual?: string): Volumes {
  for (const [at, form] of forms.entries()) {
    for (const { file, line, text, match } of project.repository.findAll(files, form, 5)) {
      if (/^\s*(?:#|\/\/|--|;)/.test(text)) continue;
      const found = match[1] ?? '';
      const path = at === 2 ? `${found}/x.db` : found;
      if (path.startsWith('/tmp') || path.includes('..') || path.includes('memory')) continue;
      return volumeOf(project, path, { file, line, note: text.trim().slice(0, 80) }, usual);
    }
  }
  return noVolumes;
}

/** The folder of a database file, or a warning where it cannot be a volume. */
export function volumeOf(project: Project, path: string, source: Source, usual?: string): Volumes {
  const plain = path.replace(/^\.\//, '');
  const end = plain.lastIndexOf('/');
  const folder = end > 0 ? plain.slice(0, end) : usual;
  if (folder !== undefined && /[{}$]/.test(folder)) return noVolumes;
  if (folder !== undefined && !holdsCode(project.repository, project.at(folder))) {
    const { file, note, line } = source;
    return { volumes: [evidenced(folder, certain, file, note, line)], warnings: [] };
  }
  return { volumes: [], warnings: [besideCode(plain, source.file)] };
}

/** Migrations beside the database are code. */
function holdsCode(repository: Repository, path: string): boolean {
  const folder = repository.directory(path);
  if (!folder) return false;
  const isData = (name: string) =>
    /^\.|\.(?:db3?|sqlite3?|csv|json|txt|md|sql)$|-(?:wal|shm|journal)$/.test(name);
  const hasCode = [...folder.files].some((name) => !isData(name));
  return hasCode || folder.folders.has('migrations') || folder.folders.has('migrate');
}

function besideCode(path: string, file: string): Warning {
  const message = `${file} keeps its database in ${path.slice(0, 80)}, beside the code, where it is lost with every release; keep it in a folder of its own, such as data/`;
  return { code: 'database_beside_code', message, file };
}
