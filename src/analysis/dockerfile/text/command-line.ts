/**
 * A command as a person types it, taken apart only as far as it is certain what a shell would do. What is not certain
 * stays a text for the shell. The aim is a container whose first process is the program itself, so that it gets
 * SIGTERM.
 */

/** Those that are no programs, or whose effect would be lost without the shell. */
const shellWords = new Set(
  'if then else elif fi for while until do done case esac in function select time { } ! [[ : . source alias bg break cd command continue eval exit export fg getopts hash jobs read readonly return set shift trap type ulimit umask unalias unset wait local declare'.split(
    ' ',
  ),
);
const assignment = /^[A-Za-z_][A-Za-z0-9_]*=/;

export interface StartForm {
  readonly argv: readonly string[];
  /** `false` where a shell stays in front of the program and swallows signals. */
  readonly getsSignals: boolean;
}

/** What `CMD` gets. */
export function startForm(command: string): StartForm {
  const words = plainWords(command);
  if (words) return { argv: words, getsSignals: true };
  const replaced = withExec(command);
  if (replaced !== null) return { argv: ['/bin/sh', '-c', replaced], getsSignals: true };
  return { argv: ['/bin/sh', '-c', command], getsSignals: false };
}

/** The words of a command that means the same without a shell; `null` where it needs one. */
export function plainWords(command: string): readonly string[] | null {
  const words = splitWords(command.trim());
  if (!words) return null;
  const rest = words[0] === 'exec' ? words.slice(1) : words;
  const [first] = rest;
  if (first === undefined || first.startsWith('-') || shellWords.has(first)) return null;
  if (!assignment.test(first)) return rest;
  const program = rest.find((word) => !assignment.test(word));
  return program === undefined || shellWords.has(program) ? null : ['env', ...rest];
}

function splitWords(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "'" || char === '"') {
      const end = text.indexOf(char, at + 1);
      if (end === -1) return null;
      const inside = text.slice(at + 1, end);
      if (char === '"' && /[$`\\]/.test(inside)) return null;
      word = (word ?? '') + inside;
      at = end;
    } else if (char === ' ' || char === '\t') {
      if (word !== null) words.push(word);
      word = null;
    } else if (/[|&;<>()$`\\*?[\]{}!#\n\r\f\v\0]/.test(char) || (char === '~' && word === null)) {
      return null;
    } else word = (word ?? '') + char;
  }
  if (word !== null) words.push(word);
  return words;
}

/**
 * The same command with `exec` before its last part, so that the program takes the shell's place; `null` where that
 * part is not certain, as with a pipe, `||`, a loop or something in the background.
 */
function withExec(command: string): string | null {
  const begin = lastPart(command);
  if (begin === null) return null;
  const head = command.slice(0, begin);
  const tail = command.slice(begin).trimStart();
  const first = /^\S+/.exec(tail)?.[0] ?? '';
  if (first === 'exec') return command;
  if (first === '' || /^[-<>#("'`$]/.test(first) || shellWords.has(first)) return null;
  const exec = assignment.test(first) ? 'exec env' : 'exec';
  return `${head}${head === '' || head.endsWith(' ') ? '' : ' '}${exec} ${tail}`;
}

/** Where the last part after `&&` or `;` begins. */
function lastPart(text: string): number | null {
  let begin = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    const next = text.charAt(at + 1);
    if (char === '\\') at++;
    else if (char === "'") {
      at = text.indexOf("'", at + 1);
      if (at === -1) return null;
    } else if (char === '"') {
      const end = endOfQuote(text, at);
      if (end === null) return null;
      at = end;
    } else if (/[|`\n\r]/.test(char) || (char === '(' && text.charAt(at - 1) !== '$')) return null;
    else if (char === '$' && next === '(') {
      const end = text.indexOf(')', at);
      if (end === -1 || text.slice(at + 2, end).includes('(')) return null;
      at = end;
    } else if ((char === '<' && next === '<') || (char === ' ' && next === '#')) return null;
    else if (char === '&' && next === '&') {
      at++;
      begin = at + 1;
    } else if (char === '&' && !/[<>]/.test(text.charAt(at - 1)) && next !== '>') return null;
    else if (char === ';') begin = at + 1;
    if (begin === at + 1 && startsBlock(text.slice(begin))) return null;
  }
  return startsBlock(text) || text.slice(begin).trim() === '' ? null : begin;
}

function startsBlock(text: string): boolean {
  return /^\s*(if|for|while|until|case|then|do|else|fi|done|esac|\{|\})(\s|$)/.test(text);
}

function endOfQuote(text: string, start: number): number | null {
  for (let at = start + 1; at < text.length; at++) {
    if (text.charAt(at) === '\\') at++;
    else if (text.charAt(at) === '"') return at;
    else if (text.charAt(at) === '`') return null;
  }
  return null;
}
