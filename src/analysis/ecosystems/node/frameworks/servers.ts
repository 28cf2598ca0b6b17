/** Servers, and what is built on them. */
import { builtFile } from '../commands/entry-file.ts';
import { config, library, type NodeFramework, nitroStart } from './framework.ts';

export const servers: readonly NodeFramework[] = [
  // Built on Nest.
  library('vendure', 3000, {
    packages: ['@vendure/core'],
    portSetting: { key: 'apiOptions.port', files: ['src/vendure-config.ts'] },
    health: '/health',
  }),
  library('nest', 3000, {
    packages: ['@nestjs/core'],
    build: 'nest build',
    // A build that also compiles what lies beside `src` keeps that folder.
    start: (package_) =>
      `node ${(builtFile(package_, 'src/main.ts') ?? 'dist/main.js').replace(/\.js$/, '')}`,
    nx: { executors: ['@nx/nest', '@nrwl/nest'], makes: 'server' },
  }),
  library('adonisjs', 3333, {
    packages: ['@adonisjs/core', '@adonisjs/framework'],
    build: 'node ace build',
    // Version 4 is not built, and starts with a file of the app's own.
    start: (package_) => (package_.dependsOn('@adonisjs/framework') ? undefined : 'node build/bin/server.js'),
  }),
  library('strapi', 1337, {
    packages: ['@strapi/strapi', 'strapi'],
    build: 'strapi build',
    start: 'strapi start',
    portSetting: { key: 'port', files: ['config/server.ts', 'config/server.js'] },
    health: '/_health',
    programs: { strapi: { develops: ['develop', 'dev'] } },
  }),
  library('medusa', 9000, {
    packages: ['@medusajs/medusa'],
    build: 'medusa build',
    start: 'medusa start',
    configs: ['medusa-config.ts', 'medusa-config.js'],
    portSetting: { key: 'projectConfig.http.port' },
    health: '/health',
    programs: { medusa: { develops: ['develop'] } },
  }),
  library('keystone', 3000, {
    packages: ['@keystone-6/core', '@keystone-next/keystone'],
    build: 'keystone build',
    start: 'keystone start',
    portSetting: { key: 'server.port', files: ['keystone.ts', 'keystone.js'] },
    programs: { keystone: { develops: ['dev'] } },
  }),
  library('payload', 3000, { build: 'payload build' }),
  library('directus', 8055, { start: 'directus start', health: '/server/ping' }),
  library('ghost', 2368, { start: 'ghost run' }),
  library('node-red', 1880, { start: 'node-red' }),
  library('mastra', 4111, {
    // Its core is a library, which any server may use.
    packages: ['mastra'],
    build: 'mastra build',
    start: 'mastra start',
  }),
  library('xmcp', 3001, {
    build: 'xmcp build',
    start: 'node dist/http.js',
    configs: config('xmcp.config'),
    portSetting: { key: 'http.port' },
    // Inside another app it is a part of that: `xmcp.config.ts` then names the adapter.
    isUsed: (package_) =>
      !['express', 'next', '@nestjs/core'].some((name) => package_.manifest.dependencies.has(name)),
    programs: { xmcp: { develops: ['dev'] } },
  }),
  library('sails', 1337, { start: 'node app.js' }),
  library('loopback', 3000, { packages: ['@loopback/core', 'loopback'], start: 'node .' }),
  library('feathers', 3030, { packages: ['@feathersjs/feathers'] }),
  library('elysia', 3000),
  library('hono', 3000),
  library('fastify', 3000),
  library('koa', 3000),
  library('hapi', 3000, { packages: ['@hapi/hapi', 'hapi'] }),
  library('express', 3000),
  library('apollo', 4000, { packages: ['@apollo/server', 'apollo-server'] }),
  library('graphql-yoga', 4000),
  library('restify', 8080),
  library('polka', 3000),
  library('tinyhttp', 3000, { packages: ['@tinyhttp/app'] }),
  library('hyper-express', 3000),
  library('moleculer', 3000, { packages: ['moleculer-web'] }),
  library('nitro', 3000, {
    packages: ['nitropack', 'nitro'],
    build: 'nitro build',
    start: nitroStart,
    programs: { nitro: { develops: ['dev'] }, nitropack: { develops: ['dev'] } },
  }),
  library('h3', 3000),
];
