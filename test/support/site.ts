/** A small site that stories deploy, break, change and roll back. */

/** The program: what it answers is what tells its releases apart. */
export const greeting = (text: string) => `require('node:http')
  .createServer((_request, response) => response.end('${text}'))
  .listen(process.env.PORT, '0.0.0.0', () => console.log('ready: ${text}'));
process.on('SIGTERM', () => process.exit(0));
`;

/** With a step of its own to build, which a test can break. */
export const site = {
  'package.json': JSON.stringify({
    name: 'site',
    scripts: { start: 'node server.js', build: 'node build.js' },
  }),
  'build.js': '',
  'server.js': greeting('one'),
};
