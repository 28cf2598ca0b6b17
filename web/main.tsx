/** The dashboard: a client of the API that runs in a browser. It can do what the API can, and nothing else. */
import { render } from 'preact';
import { keepLive } from './data/live.ts';
import { ensureRandomUuid } from './data/random-uuid.ts';
import { resumeSession } from './data/session.ts';
import { App } from './routes.tsx';

const place = document.getElementById('app');
if (!place) throw new Error('the page has no place for the dashboard');
ensureRandomUuid();
keepLive();
// Until it is known whether someone is signed in, the page itself has something to show.
await resumeSession();
place.replaceChildren();
render(<App />, place);
