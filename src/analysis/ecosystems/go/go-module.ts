/** What go.mod says: the module's path, its direct requirements, the version of Go, and the framework among them. */

import { certain, type Evidenced, evidenced } from '../../evidence.ts';
import type { Repository } from '../../repository.ts';

export interface GoFramework {
  readonly name: string;
  readonly module: string;
  readonly port: number | null;
}

export interface GoModule {
  readonly file: string;
  readonly path: string;
  readonly version: Evidenced<string> | undefined;
  readonly requires: readonly string[];
  readonly framework: GoFramework | undefined;
}

/** From those that are nothing but a server to those that something else may bring along. */
const frameworks: readonly (readonly [string, string, number | null])[] = [
  ['github.com/gin-gonic/gin', 'gin', 8080],
  ['github.com/labstack/echo', 'echo', 1323],
  ['github.com/gofiber/fiber', 'fiber', 3000],
  ['github.com/gobuffalo/buffalo', 'buffalo', 3000],
  ['github.com/beego/beego', 'beego', 8080],
  ['github.com/astaxie/beego', 'beego', 8080],
  ['github.com/revel/revel', 'revel', 9000],
  ['github.com/kataras/iris', 'iris', 8080],
  ['github.com/pocketbase/pocketbase', 'pocketbase', 8090],
  ['github.com/cloudwego/hertz', 'hertz', 8888],
  ['github.com/zeromicro/go-zero', 'go-zero', 8888],
  ['github.com/go-kratos/kratos', 'kratos', 8000],
  ['github.com/gogf/gf', 'goframe', 8000],
  ['github.com/danielgtaylor/huma', 'huma', 8888],
  ['github.com/go-fuego/fuego', 'fuego', 9999],
  ['gofr.dev', 'gofr', 8000],
  ['encore.dev', 'encore', 4000],
  ['goa.design/goa', 'goa', 8080],
  ['github.com/go-martini/martini', 'martini', 3000],
  ['github.com/codegangsta/negroni', 'negroni', 3000],
  ['github.com/urfave/negroni', 'negroni', 3000],
  ['github.com/go-chi/chi', 'chi', 8080],
  ['github.com/gorilla/mux', 'gorilla', 8080],
  ['github.com/julienschmidt/httprouter', 'httprouter', 8080],
  ['github.com/uptrace/bunrouter', 'bunrouter', 8080],
  ['github.com/valyala/fasthttp', 'fasthttp', 8080],
  ['connectrpc.com/connect', 'connect', 8080],
  ['google.golang.org/grpc', 'grpc', 50_051],
];

export function readGoModule(repository: Repository, file: string): GoModule {
  let [path, isInside] = ['', false];
  let version: Evidenced<string> | undefined;
  const requires: string[] = [];
  for (const [at, line] of repository.lines(file).entries()) {
    const text = line.trim();
    const [word = '', second = ''] = text.split(/\s+/);
    const asked = word === 'go' ? second : word === 'toolchain' ? second.replace(/^go/, '') : undefined;
    if (word === 'module') path = second.replaceAll('"', '');
    else if (asked !== undefined && /^\d+\.\d+(?:\.\d+)?/.test(asked)) {
      version = evidenced(/^\d+(?:\.\d+){1,2}/.exec(asked)?.[0] ?? asked, certain, file, text, at + 1);
    } else if (text.startsWith('require (')) isInside = true;
    else if (text === ')') isInside = false;
    else if (word === 'require' && !text.includes('// indirect')) requires.push(second);
    else if (isInside && word !== '' && !text.startsWith('//') && !text.includes('// indirect'))
      requires.push(word);
  }
  const found = frameworks.find(([module]) =>
    requires.some((each) => each === module || each.startsWith(`${module}/`)),
  );
  const framework = found && { module: found[0], name: found[1], port: found[2] };
  return { file, path, version, requires, framework };
}
