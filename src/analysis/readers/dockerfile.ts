/** A Dockerfile as data: its stages, and of the last one what is run, exposed, checked and set. */
import {
  Arg,
  Cmd,
  Copy,
  DockerfileParser,
  Entrypoint,
  Env,
  From,
  Healthcheck,
  type Instruction,
} from 'dockerfile-ast';

export interface Dockerfile {
  readonly stages: readonly DockerfileStage[];
  /** Before the first `FROM` or in any stage, with their defaults. */
  readonly args: ReadonlyMap<string, string | null>;
  /** It has instructions of Docker, whether or not one of them is `FROM`. */
  readonly isOne: boolean;
}

export interface DockerfileStage {
  readonly image: string;
  readonly name: string | null;
  readonly entrypoint: Run | null;
  readonly command: Run | null;
  readonly ports: readonly number[];
  readonly env: ReadonlyMap<string, string>;
  readonly healthcheck: string | null;
  readonly volumes: readonly string[];
  readonly workdir: string | null;
  /** Of `COPY` and `ADD` without `--from`. */
  readonly copies: readonly string[];
}

export interface Run {
  readonly line: number;
  /** The words of the exec form, or one line for a shell. */
  readonly words: readonly string[] | string;
}

/** The parser's time grows with the square of the length; no Dockerfile that a person wrote is longer. */
const mostBytes = 24 * 1024;
const longestLine = 2_000;

export function parseDockerfile(text: string): Dockerfile {
  const args = new Map<string, string | null>();
  const stages: Draft[] = [];
  let isOne = false;
  for (const instruction of DockerfileParser.parse(readable(text)).getInstructions()) {
    const stage = stages.at(-1);
    isOne ||= instructions.has(instruction.getKeyword());
    if (instruction instanceof From) stages.push(startStage(instruction, args, stages));
    else if (instruction instanceof Arg) addArg(instruction, args);
    else if (stage) addTo(stage, instruction, args);
  }
  return { stages, args, isOne };
}

const instructions = new Set(
  'ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER VOLUME WORKDIR'.split(
    ' ',
  ),
);

export interface Mistake {
  readonly line: number;
  readonly what: string;
}

/** The first thing for which Docker refuses the file before it runs anything. Not looked for in what is cut short here. */
export function mistakeIn(text: string): Mistake | undefined {
  const ownSyntax = /^#\s*syntax\s*=\s*(?!docker\/dockerfile|docker\.io\/docker\/dockerfile)\S/m.test(text);
  if (ownSyntax || readable(text) !== text) return undefined;
  const [first, ...rest] = DockerfileParser.parse(text).getInstructions();
  if (!first) return { line: 1, what: 'there is no instruction in it.' };
  let hasStage = false;
  for (const instruction of [first, ...rest]) {
    const keyword = instruction.getKeyword();
    const line = instruction.getRange().start.line + 1;
    const written = instruction.getInstruction().slice(0, 40);
    if (!instructions.has(keyword)) return { line, what: `"${written}" is no instruction.` };
    if (keyword === 'FROM') hasStage = true;
    else if (!hasStage && keyword !== 'ARG')
      return { line, what: `${keyword} stands before the first FROM.` };
    const words = instruction.getArguments().length;
    if (words === 0) return { line, what: `${keyword} has no argument.` };
    if (keyword === 'FROM' && ![1, 3].includes(words))
      return { line, what: 'FROM takes an image, or an image, AS and a name.' };
  }
  return hasStage ? undefined : { line: 1, what: 'there is no FROM in it.' };
}

function readable(text: string): string {
  const lines = text.slice(0, mostBytes).split('\n');
  return lines.map((line) => line.slice(0, longestLine)).join('\n');
}

interface Draft {
  image: string;
  name: string | null;
  entrypoint: Run | null;
  command: Run | null;
  ports: number[];
  env: Map<string, string>;
  healthcheck: string | null;
  volumes: string[];
  workdir: string | null;
  copies: string[];
}

/** A stage built on another one has all that the other set. */
function startStage(from: From, args: ReadonlyMap<string, string | null>, stages: readonly Draft[]): Draft {
  const image = filled(from.getImage() ?? '', args);
  const base = stages.find(({ name }) => name !== null && name.toLowerCase() === image.toLowerCase());
  const name = from.getBuildStage();
  if (base)
    return {
      ...base,
      name,
      ports: [...base.ports],
      env: new Map(base.env),
      volumes: [...base.volumes],
      copies: [...base.copies],
    };
  return {
    image,
    name,
    entrypoint: null,
    command: null,
    ports: [],
    env: new Map(),
    healthcheck: null,
    volumes: [],
    workdir: null,
    copies: [],
  };
}

function addArg(instruction: Arg, args: Map<string, string | null>): void {
  const property = instruction.getProperty();
  const name = property?.getName();
  if (!property || !name) return;
  const value = property.getValue();
  if (value !== null || !args.has(name)) args.set(name, value);
}

function addTo(stage: Draft, instruction: Instruction, args: ReadonlyMap<string, string | null>): void {
  const known = new Map<string, string | null>([...args, ...stage.env]);
  if (instruction instanceof Cmd) stage.command = runOf(instruction);
  else if (instruction instanceof Entrypoint) {
    stage.entrypoint = runOf(instruction);
    stage.command = null;
  } else if (instruction instanceof Env) {
    for (const property of instruction.getProperties())
      stage.env.set(property.getName(), filled(property.getValue() ?? '', known));
  } else if (instruction instanceof Healthcheck) stage.healthcheck = healthOf(instruction);
  else if (instruction instanceof Copy) {
    if (!instruction.getFromFlag()) stage.copies.push(...sourcesOf(instruction));
  } else addPlain(stage, instruction, known);
}

function addPlain(stage: Draft, instruction: Instruction, known: ReadonlyMap<string, string | null>): void {
  const words = instruction.getArguments().map((argument) => filled(argument.getValue(), known));
  switch (instruction.getKeyword()) {
    case 'EXPOSE':
      for (const word of words) {
        const port = Number(/^(\d{1,5})(?:\/tcp)?$/.exec(word)?.[1] ?? Number.NaN);
        if (port > 0 && port < 65_536) stage.ports.push(port);
      }
      break;
    case 'VOLUME':
      stage.volumes.push(...words.flatMap((word) => /^[[",]*([^[\]",\s]+)[\]",]*$/.exec(word)?.[1] ?? []));
      break;
    case 'WORKDIR':
      stage.workdir = words[0] ?? null;
      break;
    case 'ADD':
      stage.copies.push(...sourcesOf(instruction));
      break;
  }
}

function sourcesOf(instruction: Instruction): readonly string[] {
  const words = instruction
    .getArguments()
    .map((argument) => argument.getValue().replace(/^[["',]+|[\]"',]+$/g, ''));
  return words.filter((word) => word !== '' && !word.startsWith('--') && !word.startsWith('<<')).slice(0, -1);
}

/** The library leaves out the spaces in strings of the exec form, so that is read as the JSON it is. */
function runOf(instruction: Cmd | Entrypoint): Run {
  const line = instruction.getRange().start.line + 1;
  const content = (instruction.getArgumentsContent() ?? '').replace(/\\\r?\n\s*/g, ' ').trim();
  return { line, words: wordsOf(content) ?? content };
}

function wordsOf(content: string): readonly string[] | undefined {
  if (!content.startsWith('[')) return undefined;
  try {
    const words: unknown = JSON.parse(content);
    return Array.isArray(words) ? words.filter((word) => typeof word === 'string') : undefined;
  } catch {
    // Docker itself takes what is no JSON for a line of the shell.
    return undefined;
  }
}

function healthOf(instruction: Healthcheck): string | null {
  const content = instruction.getArgumentsContent() ?? '';
  return /^NONE$/i.test(content.trim()) ? null : content.slice(0, 1_000);
}

/** `${NODE_VERSION}-alpine` with what the file itself says of it; what it does not say becomes nothing. */
function filled(text: string, values: ReadonlyMap<string, string | null>): string {
  return text
    .slice(0, 1_000)
    .replace(
      /\$\{(\w{1,100})(?::?[-+]([^}]{0,200}))?\}|\$(\w{1,100})/g,
      (_, braced?: string, other?: string, plain?: string) => {
        return values.get(braced ?? plain ?? '') ?? other ?? '';
      },
    )
    .replace(/^(["'])(.*)\1$/, '$2');
}
