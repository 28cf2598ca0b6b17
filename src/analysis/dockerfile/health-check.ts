/**
 * `HEALTHCHECK` by what the image has anyway. The program is a constant; port and path are data for it. Where a health
 * path is known its answer has to be a success; without one, any answer below 500 shows that the app is up.
 */

import type { Request } from './request.ts';
import { jsonList } from './text/grammar.ts';

const schedule = '--interval=10s --timeout=5s --start-period=60s --retries=3';

const programs = {
  node: [
    'node',
    '-e',
    "require('http').get({host:'127.0.0.1',port:process.env.PORT,path:process.argv[1],timeout:4000},r=>process.exit(r.statusCode<process.argv[2]?0:1)).on('timeout',()=>process.exit(1)).on('error',()=>process.exit(1))",
  ],
  bun: [
    'bun',
    '-e',
    "fetch('http://127.0.0.1:'+process.env.PORT+process.argv[1],{redirect:'manual',signal:AbortSignal.timeout(4000)}).then(r=>process.exit(r.status<process.argv[2]?0:1),()=>process.exit(1))",
  ],
  deno: [
    'deno',
    'eval',
    "const [path,limit]=Deno.args;fetch('http://127.0.0.1:'+Deno.env.get('PORT')+path,{redirect:'manual'}).then(r=>Deno.exit(r.status<limit?0:1),()=>Deno.exit(1))",
  ],
  python: [
    'python',
    '-c',
    "import http.client,os,sys;c=http.client.HTTPConnection('127.0.0.1',int(os.environ['PORT']),timeout=4);c.request('GET',sys.argv[1]);sys.exit(c.getresponse().status>=int(sys.argv[2]))",
  ],
  ruby: [
    'ruby',
    '-rnet/http',
    '-e',
    "exit(Net::HTTP.get_response('127.0.0.1',ARGV[0],Integer(ENV['PORT'])).code.to_i<ARGV[1].to_i)",
  ],
  php: [
    'php',
    '-r',
    "$h=@get_headers('http://127.0.0.1:'.getenv('PORT').$argv[1]);exit($h&&(int)substr($h[0],9,3)<(int)$argv[2]?0:1);",
    '--',
  ],
  // What Debian always has: its shell can open a connection.
  bash: [
    'bash',
    '-c',
    'exec 3<>/dev/tcp/127.0.0.1/$PORT && printf "GET %s HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n" "$1" >&3 && read -r -t 4 _ status _ <&3 && [ "$status" -lt "$2" ]',
    'health',
  ],
} as const;

export type HealthCheckProgram = keyof typeof programs;

export function healthCheckLine(request: Request, by: HealthCheckProgram): { text: string; why: string } {
  const { port, healthPath, staticOutput } = request;
  if (port === null && healthPath === null && staticOutput === null)
    return {
      text: 'HEALTHCHECK NONE',
      why: 'Nothing says that this app answers on a port, so there is nothing to ask',
    };
  const command = jsonList([...programs[by], healthPath ?? '/', healthPath === null ? '500' : '400']);
  return {
    text: `HEALTHCHECK ${schedule} \\\n    CMD ${command}`,
    why:
      healthPath === null
        ? 'No health path is known, so any answer below 500 counts'
        : 'Asks the app itself, with what is in the image anyway',
  };
}
