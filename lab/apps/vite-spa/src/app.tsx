import { About, Home, NotFound } from './pages.tsx';
import { Link, usePath } from './router.tsx';

const pages: Record<string, () => React.JSX.Element> = { '/': Home, '/about': About };

export function App() {
  const path = usePath();
  const Page = pages[path] ?? NotFound;
  return (
    <>
      <nav>
        <Link to="/">Home</Link>
        <Link to="/about">About</Link>
      </nav>
      <main>
        <Page />
      </main>
    </>
  );
}
