/** Everything one file tells, from one parse and one walk. */
import { parseSync } from 'oxc-parser';
import type { Import, SourceCall, SourceFacts } from '../source-facts.ts';
import { envReads } from './env-reads.ts';
import { Evaluator, exported } from './evaluate.ts';
import { listens } from './listens.ts';
import { routes } from './routes.ts';
import { schemaReads } from './schema-reads.ts';
import { type FileScope, fileScopeOf } from './scope.ts';
import { scriptsOf } from './scripts-of.ts';
import { calledName, child, isNode, literal, type Node, type NodePlace, nodes, walk } from './syntax.ts';

const tellingCalls = new Set(
  `Sequelize DataSource forRoot forRootAsync connect knex createConnection createPool Pool Client Redis IORedis
  createClient Worker Queue Database setGlobalPrefix schedule CronJob Cron PrismaClient drizzle postgres`.split(
    /\s+/,
  ),
);
const mostOfEach = 300;

export function sourceFactsOf(path: string, text: string): SourceFacts {
  const { code, lang } = scriptsOf(path, text);
  const parsed = parseSync(path, code, { lang, sourceType: 'unambiguous', preserveParens: false });
  const program: unknown = parsed.program;
  if (!isNode(program)) throw new Error('no program');
  const [error] = parsed.errors;
  if (error && nodes(program.body).length === 0) throw new Error(error.message);
  const places = [...walk(program)];
  const scope = fileScopeOf(places);
  const lineOf = lineCounter(code);
  const withLine = <T extends { readonly start: number }>(
    all: readonly T[],
  ): (Omit<T, 'start'> & { line: number })[] =>
    all.slice(0, mostOfEach).map(({ start, ...rest }) => ({ ...rest, line: lineOf(start) }));
  const isAboutEnv = /env/i.test(code);
  return {
    imports: withLine(importsOf(places)),
    env: withLine([...envReads(places, scope), ...(isAboutEnv ? schemaReads(places) : [])]),
    listens: withLine(listens(places, scope)),
    routes: withLine(routes(places, scope)),
    config: new Evaluator(scope).data(exported(program)),
    calls: withLine(callsOf(places, scope)),
  };
}

function importsOf(places: readonly NodePlace[]): (Omit<Import, 'line'> & { start: number })[] {
  return places.flatMap(({ node }) => {
    const module = moduleOf(node);
    return module === undefined ? [] : [{ module, start: node.start }];
  });
}

function moduleOf(node: Node): string | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
      return literal(child(node, 'source'));
    case 'CallExpression':
      return calledName(node) === 'require' ? literal(nodes(node.arguments)[0]) : undefined;
    default:
      return undefined;
  }
}

function callsOf(
  places: readonly NodePlace[],
  scope: FileScope,
): (Omit<SourceCall, 'line'> & { start: number })[] {
  return places.flatMap(({ node }) => {
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return [];
    const name = calledName(node);
    if (name === undefined || !tellingCalls.has(name)) return [];
    const evaluator = new Evaluator(scope);
    return [
      { name, arguments: nodes(node.arguments).map((each) => evaluator.data(each, 6)), start: node.start },
    ];
  });
}

function lineCounter(code: string): (start: number) => number {
  const starts = [0];
  for (let at = code.indexOf('\n'); at !== -1; at = code.indexOf('\n', at + 1)) starts.push(at + 1);
  return (start) => {
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= start) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
