/** The files of a folder as they are, without what Git ignores: what is sent by `slipway deploy --local`. */
import { execFile } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CliError } from './command.ts';

const run = promisify(execFile);

const mostBytesOfNames = 64 * 1024 * 1024;

/** Nothing, where git or what it is asked for is not there. */
export async function git(folder: string, ...args: string[]): Promise<string> {
  try {
    return (await run('git', ['-C', folder, ...args])).stdout.trim();
  } catch (error) {
    if (Object(error).code === 'ENOENT' || typeof Object(error).code === 'number') return '';
    throw error;
  }
}

/**
 * Every path that Git knows or would add, from the folder on. Git itself reads the ignore files, nested ones and the
 * person's own; where the folder is no repository it is lent an empty one.
 */
export async function listTree(folder: string): Promise<string[]> {
  if (existsSync(join(folder, '.git'))) return listWith(folder, ['--cached']);
  const lent = mkdtempSync(join(tmpdir(), 'slipway-'));
  try {
    await gitOrFail(['init', '--quiet', '--bare', lent]);
    return await listWith(folder, [], [`--git-dir=${lent}`, `--work-tree=${folder}`]);
  } finally {
    rmSync(lent, { recursive: true, force: true });
  }
}

async function listWith(folder: string, more: readonly string[], where: readonly string[] = []) {
  const list = ['ls-files', '-z', '--others', '--exclude-standard', ...more];
  const found = await gitOrFail(['-C', folder, ...where, ...list]);
  const paths: string[] = [];
  // Twice, where it is in conflict.
  for (const path of new Set(found.split('\0').filter((each) => each !== ''))) {
    if (path.includes('\ufffd'))
      throw new CliError(`The name «${path}» is not UTF-8.`, 'Rename the file, or have Git ignore it.');
    const name = path.replace(/\/$/, '');
    const is = lstatSync(join(folder, name), { throwIfNoEntry: false });
    // One that Git knows and that was removed is not there to be sent.
    if (!is) continue;
    if (!is.isDirectory()) paths.push(name);
    // A repository inside of this one, a submodule say, has rules of its own. One that was not fetched is empty.
    else if (existsSync(join(folder, name, '.git')))
      for (const inner of await listTree(join(folder, name))) paths.push(`${name}/${inner}`);
  }
  return paths;
}

async function gitOrFail(args: readonly string[]): Promise<string> {
  try {
    return (await run('git', [...args], { maxBuffer: mostBytesOfNames })).stdout;
  } catch (error) {
    const { code, stderr } = Object(error);
    if (code === 'ENOENT')
      throw new CliError(
        'git is not installed; it says which files are ignored.',
        'Install it, or send the folder as docs/guides/uploads.md shows, with tar and curl.',
      );
    if (typeof stderr === 'string' && stderr !== '')
      throw new CliError(`The files cannot be listed: ${stderr.trim()}`);
    throw error;
  }
}
