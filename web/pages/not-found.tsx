import { useTitle } from '../parts/title.ts';
import { Empty } from '../ui/empty.tsx';

export function NotFound() {
  useTitle('Not found');
  return (
    <Empty title="There is no such page">
      <p>
        The address may have been cut off. <a href="/">The overview</a> shows all that is yours, and Ctrl K
        finds it by name.
      </p>
    </Empty>
  );
}
