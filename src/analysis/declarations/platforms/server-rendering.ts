/** Whether what a host calls its publish folder is really served as files, or read by a server of the framework. */
import { objectAt } from '../../readers/shape.ts';
import { join, type Repository } from '../../repository.ts';
import { type DeclarationFile, folderIn } from '../declaration-file.ts';

/** Frameworks whose build is a server unless they are set up otherwise. */
const alwaysServer =
  /^(?:next|nuxt|@remix-run\/(?:node|serve|express)|@react-router\/(?:node|serve)|@tanstack\/(?:react|solid)-start|@solidjs\/start|@redwoodjs\/core|@nestjs\/core|express|fastify|koa|hono|@hapi\/hapi)$/;
/** With one of these, a framework that makes files makes a server. */
const adapters =
  /^(?:@astrojs\/(?:node|vercel|netlify|cloudflare)|@sveltejs\/adapter-(?:auto|node|vercel|netlify|cloudflare)|@netlify\/(?:plugin-nextjs|remix-\w+|vite-plugin-react-router)|@angular\/ssr|@builder\.io\/qwik-city|@analogjs\/\w+|svelte-adapter-\w+)$/;
const serverFolders =
  /^(?:\.next|\.output(?!\/public)|\.nuxt|\.svelte-kit|\.vercel|\.netlify|\.amplify-hosting|build\/(?:client|server)|dist\/(?:server|client)|public\/build)(?:\/|$)/;

/** What a host calls its output, where it is files that a browser gets. */
export function servedOutput(
  { repository, directory: own }: DeclarationFile,
  value: unknown,
  { directory = own, under = '' } = {},
): string | undefined {
  const output = folderIn(value, under);
  return output !== undefined && isServedAsFiles(repository, directory, output) ? output : undefined;
}

function isServedAsFiles(repository: Repository, directory: string, output: string): boolean {
  if (serverFolders.test(output)) return false;
  const manifest = repository.json(join(directory, 'package.json'));
  if (!manifest) return true;
  const names = Object.keys({
    ...objectAt(manifest, 'dependencies'),
    ...objectAt(manifest, 'devDependencies'),
  });
  if (names.some((name) => adapters.test(name))) return false;
  const server = names.filter((name) => alwaysServer.test(name));
  if (server.length === 0) return true;
  // `next export` and `nuxt generate` write into folders that no server of theirs uses.
  return (
    server.every((name) => name === 'next' || name === 'nuxt') &&
    /^(?:out|dist|\.output\/public)$/.test(output)
  );
}
