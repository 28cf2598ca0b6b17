/** Servers, and what is built on them. */
import { type NodeFramework, nitroStart, server } from './framework.ts';

export const servers: readonly NodeFramework[] = [
  server('nest', 3000, { packages: ['@nestjs/core'], build: 'nest build', node: 'node dist/main' }),
  server('adonisjs', 3333, {
    packages: ['@adonisjs/core', '@adonisjs/framework'],
    build: 'node ace build',
    node: 'node build/bin/server.js',
  }),
  server('strapi', 1337, {
    packages: ['@strapi/strapi', 'strapi'],
    build: 'strapi build',
    start: 'strapi start',
  }),
  server('medusa', 9000, { packages: ['@medusajs/medusa'], build: 'medusa build', start: 'medusa start' }),
  server('keystone', 3000, {
    packages: ['@keystone-6/core', '@keystone-next/keystone'],
    build: 'keystone build',
    start: 'keystone start',
  }),
  server('payload', 3000, { build: 'payload build' }),
  server('directus', 8055, { start: 'directus start' }),
  server('ghost', 2368, { start: 'ghost run' }),
  server('node-red', 1880, { start: 'node-red' }),
  server('mastra', 4111, {
    packages: ['mastra', '@mastra/core'],
    build: 'mastra build',
    start: 'mastra start',
  }),
  server('sails', 1337, { node: 'node app.js' }),
  server('loopback', 3000, { packages: ['@loopback/core', 'loopback'], node: 'node .' }),
  server('feathers', 3030, { packages: ['@feathersjs/feathers'] }),
  server('elysia', 3000),
  server('hono', 3000),
  server('fastify', 3000),
  server('koa', 3000),
  server('hapi', 3000, { packages: ['@hapi/hapi', 'hapi'] }),
  server('express', 3000),
  server('apollo', 4000, { packages: ['@apollo/server', 'apollo-server'] }),
  server('graphql-yoga', 4000),
  server('restify', 8080),
  server('polka', 3000),
  server('tinyhttp', 3000, { packages: ['@tinyhttp/app'] }),
  server('hyper-express', 3000),
  server('moleculer', 3000, { packages: ['moleculer-web'] }),
  server('nitro', 3000, { packages: ['nitropack', 'nitro'], build: 'nitro build', node: nitroStart }),
  server('h3', 3000),
];
