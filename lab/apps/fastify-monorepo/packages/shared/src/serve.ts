/** As much of a Fastify server as starting and stopping it needs. */
export interface Service {
  readonly server: { closeIdleConnections(): void };
  listen(options: { port: number; host: string }): Promise<string>;
  close(): Promise<unknown>;
}

/** Listens on PORT until SIGTERM, then finishes the requests in flight. */
export async function serve(service: Service, defaultPort: number): Promise<void> {
  process.on('SIGTERM', () => {
    void service.close();
    // A connection that stays open after its last answer would hold the exit up for more than a minute.
    setInterval(() => service.server.closeIdleConnections(), 100).unref();
  });
  await service.listen({ port: Number(process.env.PORT ?? defaultPort), host: '0.0.0.0' });
}
