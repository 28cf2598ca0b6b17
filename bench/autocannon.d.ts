/** The part of autocannon that the benchmarks use; the package ships no types. */
declare module 'autocannon' {
  interface Options {
    readonly url: string;
    readonly headers: Record<string, string>;
    readonly connections: number;
    readonly duration: number;
  }
  interface Result {
    readonly requests: { readonly average: number };
    readonly latency: { readonly p99: number };
    readonly non2xx: number;
    readonly errors: number;
  }
  export default function autocannon(options: Options): Promise<Result>;
}
