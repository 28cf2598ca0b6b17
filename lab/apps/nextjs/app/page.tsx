import { hostname } from 'node:os';

// Rendered for each request, so that the version is the running one and not the built one.
export const dynamic = 'force-dynamic';

export default function Page() {
  return (
    <main>
      <h1>{`nextjs ${process.env.APP_VERSION ?? 'dev'}`}</h1>
      <p>{`Rendered by ${hostname()} at ${new Date().toISOString()}.`}</p>
    </main>
  );
}
