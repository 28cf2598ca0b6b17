export function Home() {
  return (
    <>
      <h1>{`vite-spa ${import.meta.env.VITE_APP_VERSION}`}</h1>
      <p>
        The API is at <code>{import.meta.env.VITE_API_URL ?? 'an address nobody has set'}</code>.
      </p>
    </>
  );
}

export function About() {
  return (
    <>
      <h1>About</h1>
      <p>Reload this page: it only comes back if the server answers unknown paths with index.html.</p>
    </>
  );
}

export function NotFound() {
  return <h1>There is no such page</h1>;
}
