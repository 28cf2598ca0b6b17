import { useTitle } from '../parts/title.ts';

export function NotFound() {
  useTitle('Not found');
  return (
    <div class="prose">
      <h1>There is no such page</h1>
      <p>
        The address may have been cut off. <a href="/">The overview</a> shows all that is yours, and Ctrl K
        finds it by name.
      </p>
    </div>
  );
}
