/**
 * What one JavaScript or TypeScript file says, as plain data. Made by `parse-ahead.ts` from the parsed file before
 * any detector runs; `repository.source(path)` gives it. A file without any of this (or that could not be parsed) has
 * none.
 */
export interface SourceFacts {
  readonly imports: readonly Import[];
  /** Reads of the environment: `process.env.X`, `import.meta.env.X`, `Deno.env.get('X')`, `Bun.env.X`, … */
  readonly env: readonly EnvRead[];
  /** `app.listen(…)`, `serve({port})`, `Bun.serve`, `Deno.serve`, … */
  readonly listens: readonly Listen[];
  /** Literal registrations: `app.get('/health', …)`, `@Get('health')`, `router.route({url: …})`. */
  readonly routes: readonly Route[];
  /** `export default …` or `module.exports = …` as data, calls such as `defineConfig(…)` unwrapped. */
  readonly config: unknown;
  /** Names of functions that are called by plain name or `a.b` with literal arguments are not kept; only these. */
  readonly calls: readonly SourceCall[];
}

export interface Import {
  readonly module: string;
  readonly line: number;
}

export interface EnvRead {
  readonly key: string;
  readonly line: number;
  /** `meta` is `import.meta.env`: put in by the bundler. `schema`: a key of zod, envalid, joi, t3-env and the like. */
  readonly via: 'process' | 'meta' | 'schema';
  /** From `?? 'x'`, `|| 'x'`, a destructuring default, or `.default('x')` of a schema. */
  readonly default?: string;
  /** True: the code fails without (throws, `!`, a schema's plain key). False: it has a default or is tested. */
  readonly required?: boolean;
}

export interface Listen {
  readonly port: number | null;
  /** The variable that comes before the number. */
  readonly variable: string | null;
  readonly line: number;
}

export interface Route {
  readonly path: string;
  /** Of a class with `@Controller`: a prefix of the whole app comes before it. */
  readonly isController?: boolean;
  readonly line: number;
}

/** A call whose arguments are data, of a constructor or function that tells something: `new Sequelize({dialect})`. */
export interface SourceCall {
  readonly name: string;
  readonly arguments: readonly unknown[];
  readonly line: number;
}
