/** What an exit code and the last lines of an app say about why it ended, in words for someone who wrote it. */
export interface CrashWords {
  /** Goes on after «The app ended». */
  readonly how: string;
  readonly hint: string;
}

const seeLines = 'Its last lines say why.';

/** 128 and more: the number of the signal that ended it, on top of that. */
const byCode: Readonly<Record<number, CrashWords>> = {
  0: {
    how: 'by itself, without an error (exit code 0)',
    hint: 'The start command has to keep running in the foreground. Set settings.startCommand to the one that starts the server, without «&» and without options such as --daemon.',
  },
  126: {
    how: 'at once: its command is there but may not be executed (exit code 126)',
    hint: 'Make the file executable («git update-index --chmod=+x <file>», then commit), or name its interpreter in settings.startCommand, as in «sh start.sh».',
  },
  127: {
    how: 'at once: its command does not exist in the image (exit code 127)',
    hint: 'Check settings.startCommand for a typing mistake, and that the program is installed in the image and not only on your machine.',
  },
  134: {
    how: 'by giving up on itself (exit code 134, SIGABRT)',
    hint: `${seeLines} With Node.js it is often its own limit of memory: set NODE_OPTIONS=--max-old-space-size higher.`,
  },
  137: {
    how: 'because it was killed (exit code 137, SIGKILL), though not for its own memory limit',
    hint: 'The server may have run out of memory as a whole, or someone ended it by hand. Look at the memory of the server, or set settings.memoryMb so that the app has its share.',
  },
  139: {
    how: 'with a segmentation fault (exit code 139, SIGSEGV)',
    hint: 'A native library of it is broken or was built for another system. Install the dependencies in the image instead of copying them into it.',
  },
  143: {
    how: 'because it was asked to stop (exit code 143, SIGTERM)',
    hint: 'Nobody of Slipway asked for it: a process of the app itself, a script around it, or someone on the server did.',
  },
};

/** Lines that name a cause for which there is one right thing to do. They say more than the exit code. */
const byLine: readonly (readonly [RegExp, string])[] = [
  [
    /exec format error/i,
    'The image was built for another kind of processor than the server’s, or a script lacks its first line «#!/bin/sh».',
  ],
  [
    /Cannot find module '([^']+)'|Cannot find package '([^']+)'|ERR_MODULE_NOT_FOUND/,
    'A module is missing in the image: put it among «dependencies» (not «devDependencies») in package.json, or check the path in settings.startCommand and that settings.buildCommand makes the file.',
  ],
  [
    /ModuleNotFoundError: No module named|ImportError: No module named/,
    'A Python package is missing in the image: add it to requirements.txt (or pyproject.toml), or check the module’s name in settings.startCommand.',
  ],
  [
    /EADDRINUSE|address already in use/i,
    'Two processes of the app want the same port. Let one of them take another, or start only one in settings.startCommand.',
  ],
  [
    /listen EACCES|permission denied.{0,40}(bind|:80\b|:443\b)|bind.{0,60}permission denied/i,
    'The app runs without root and may not take a port below 1024. Let it listen on the port of the variable PORT.',
  ],
  [
    /ECONNREFUSED|could not connect to server|connection to server at .* failed|Can't connect to MySQL/i,
    'It could not reach a service that it needs. Check the address in its variables (DATABASE_URL, REDIS_URL …): inside a container, localhost is the container itself.',
  ],
  [
    /getaddrinfo (ENOTFOUND|EAI_AGAIN)|could not translate host name|Name or service not known/i,
    'It looks for a service under a name that does not exist. Check the addresses in its variables (DATABASE_URL, REDIS_URL …).',
  ],
  [
    /JavaScript heap out of memory/,
    'Node.js reached its own limit of memory. Set the variable NODE_OPTIONS=--max-old-space-size=<MB>, and settings.memoryMb above that.',
  ],
  [
    /EACCES: permission denied|Permission denied.*\/|Read-only file system/i,
    'It writes where it may not. Let it write to a volume (settings.volumes) or to /tmp.',
  ],
];

/** `missing`: variables that the app's code asks for and that have no value. */
export function crashWords(
  exitCode: number | null,
  lastLines: readonly string[],
  missing: readonly string[] = [],
): CrashWords {
  const said = lastLines.join('\n');
  const told = byLine.find(([pattern]) => pattern.test(said))?.[1];
  const how = exitCode === null ? 'soon after its start' : (byCode[exitCode]?.how ?? codeWords(exitCode));
  const usual = exitCode === null ? undefined : byCode[exitCode]?.hint;
  const named = missing.filter((key) => new RegExp(`(?<!\\w)${key}(?!\\w)`).test(said));
  if (named.length > 0) return { how, hint: `Its last lines name ${valueMissing(named)}` };
  // Who was killed or could not even begin did not end for want of a variable.
  const mayBeMissing = missing.length > 0 && (exitCode === null || exitCode < 126);
  const hint = told ?? usual ?? silence(lastLines);
  return { how, hint: mayBeMissing ? `${hint} It also asks for ${valueMissing(missing)}` : hint };
}

const mostNamed = 10;

/** Goes on after who asks. */
export function valueMissing(keys: readonly string[]): string {
  const more = keys.length > mostNamed ? ` and ${keys.length - mostNamed} more` : '';
  const [which, them] = keys.length === 1 ? ['which has', 'it'] : ['which have', 'them'];
  return `${keys.slice(0, mostNamed).join(', ')}${more}, ${which} no value: set ${them} among the variables of the environment, then deploy again.`;
}

function codeWords(exitCode: number): string {
  const signal = exitCode > 128 && exitCode < 160 ? `, signal ${exitCode - 128}` : '';
  return `with an error (exit code ${exitCode}${signal})`;
}

function silence(lastLines: readonly string[]): string {
  if (lastLines.some((line) => line.trim() !== '')) return `${seeLines} Correct that, then deploy again.`;
  return 'It printed nothing. Start it with settings.startCommand on your own machine, with the same variables, to see why.';
}
