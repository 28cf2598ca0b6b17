/** The name server by HTTP: what is set, what fails, what was asked. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { addRoutes, parse } from '../control/input.ts';
import type { LabDns } from './dns.ts';
import { faults } from './lookup.ts';

const closed = { additionalProperties: false };
const RecordBody = Type.Object(
  {
    name: Type.String(),
    type: Type.String(),
    values: Type.Array(Type.Union([Type.String(), Type.Array(Type.String())])),
    ttl: Type.Optional(Type.Integer()),
  },
  closed,
);
const Removal = Type.Object({ name: Type.String(), type: Type.Optional(Type.String()) }, closed);
const NameFault = Type.Object(
  { name: Type.String(), fault: Type.Union([...faults.map((fault) => Type.Literal(fault)), Type.Null()]) },
  closed,
);
const Queries = Type.Object({ name: Type.Optional(Type.String()) }, closed);
const Zone = Type.Object({ zone: Type.String() }, closed);

export function dnsRoutes(app: FastifyInstance, dns: LabDns): void {
  addRoutes(app, (scope) => {
    scope.get('/dns', () => ({ zones: dns.zones(), records: dns.list(), faults: dns.faults() }));

    scope.put('/dns', ({ body }) => {
      const example = { name: 'app.lab.test', type: 'A', values: ['192.0.2.1'], ttl: 60 };
      const { name, type, values, ttl } = parse(RecordBody, body, example);
      return dns.set(name, type, values, ttl);
    });

    scope.delete('/dns', ({ query }) => {
      const { name, type } = parse(Removal, query, 'DELETE /dns?name=app.lab.test&type=A');
      return { removed: dns.remove(name, type) };
    });

    scope.put('/dns/faults', ({ body }) => {
      const example = `{"name":"app.lab.test","fault":"servfail"}; others are ${faults.slice(1).join(', ')}, and null for none`;
      const { name, fault } = parse(NameFault, body, example);
      dns.fail(name, fault ?? undefined);
      return { faults: dns.faults() };
    });

    scope.get('/dns/remembered', () => ({ remembered: dns.remembered() }));

    scope.put('/dns/remembered', ({ body }) => {
      const example = { name: 'app.lab.test', type: 'A', values: ['192.0.2.1'], ttl: 3600 };
      const { name, type, values, ttl } = parse(RecordBody, body, example);
      return dns.remember(name, type, values, ttl);
    });

    scope.delete('/dns/remembered', ({ query }) => {
      const { name, type } = parse(Removal, query, 'DELETE /dns/remembered?name=app.lab.test&type=A');
      return { removed: dns.forget(name, type) };
    });

    scope.get('/dns/queries', ({ query }) => {
      const { name } = parse(Queries, query, 'GET /dns/queries?name=app.lab.test');
      return { queries: dns.queries(name) };
    });

    scope.post('/dns/zones', ({ body }) => {
      dns.addZone(parse(Zone, body, { zone: 'example.org' }).zone);
      return { zones: dns.zones() };
    });
  });
}
